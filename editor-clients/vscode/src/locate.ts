/** Where the program `foretype` is. Pure: what exists is asked of the caller. */

export interface Places {
  readonly command: readonly string[]; // a setting
  readonly pythonPath: string; // a setting
  readonly path: string; // the variable PATH
  readonly activePython: string | undefined; // of the Python extension, undefined in a folder that isn't trusted
  readonly home: string;
  readonly windows: boolean;
}

export interface Found {
  readonly command: string;
  readonly args: readonly string[];
  readonly from: string; // for a person
}

/**
 * The first place that has it. What a person set is taken as it is, also where nothing is there: another one than the
 * one that was asked for would be a surprise.
 */
export function locate(places: Places, exists: (file: string) => boolean): Found | undefined {
  const [program, ...args] = places.command;
  if (program) {
    return { command: program, args, from: "setting foretype.command" };
  }
  if (places.pythonPath) {
    return { command: places.pythonPath, args: ["-m", "completion_server"], from: "setting foretype.pythonPath" };
  }
  const separator = places.windows ? ";" : ":";
  const folders = places.path.split(separator).filter(Boolean);
  const candidates = folders.map((folder) => ({ folder, from: `PATH (${folder})` }));
  if (places.activePython) {
    candidates.push({ folder: parent(places.activePython), from: "the interpreter of the Python extension" });
  }
  if (!places.windows && places.home) {
    candidates.push({ folder: `${places.home}/.local/bin`, from: "~/.local/bin" }); // pipx, pip --user, uv tool
  }
  for (const { folder, from } of candidates) {
    const command = places.windows ? `${folder}\\foretype.exe` : `${folder}/foretype`;
    if (exists(command)) {
      return { command, args: [], from };
    }
  }
  return undefined;
}

function parent(file: string): string {
  return file.replace(/[\\/][^\\/]*$/, "");
}
