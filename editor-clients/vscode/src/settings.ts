/** The person's settings, and what of them the server gets. Knows nothing of VS Code but through `read`. */

export interface Settings {
  readonly enabled: boolean;
  readonly command: readonly string[]; // empty: find it
  readonly pythonPath: string; // empty: none set
  readonly pair: string; // empty: the engine's own choice
  readonly startEngine: boolean;
  readonly streaming: boolean;
  readonly maxLines: number;
  readonly minConfidence: number | null; // null: the server's own
  readonly snippets: boolean;
  readonly languagesOff: readonly string[];
  readonly foldersOff: readonly string[];
  readonly exclude: readonly string[];
}

/** Reads one setting of section `foretype`; the editor has put its default in. */
export type Read = (name: string) => unknown;

export function readSettings(read: Read): Settings {
  return {
    enabled: read("enabled") !== false,
    command: strings(read("command")),
    pythonPath: string(read("pythonPath")),
    pair: string(read("pair")),
    startEngine: read("startEngine") !== false,
    streaming: read("streaming") !== false,
    maxLines: number(read("maxLines")) ?? 12,
    minConfidence: number(read("minConfidence")),
    snippets: read("snippets") !== false,
    languagesOff: strings(read("languagesOff")),
    foldersOff: strings(read("foldersOff")),
    exclude: strings(read("exclude")),
  };
}

/** The server's `initializationOptions`, see `docs/clients.md`. */
export function serverOptions(settings: Settings): Record<string, unknown> {
  return {
    enabled: settings.enabled,
    pair: settings.pair || null,
    max_lines: settings.maxLines,
    ...(settings.minConfidence === null ? {} : { min_confidence: settings.minConfidence }),
    snippets: settings.snippets,
    languages_off: settings.languagesOff,
    folders_off: settings.foldersOff,
    exclude: settings.exclude,
    engine: { start: settings.startEngine },
    stream: settings.streaming,
    events: true,
    status: true,
    trace: true,
  };
}

/** Whether the two need another server process. */
export function needsRestart(before: Settings, after: Settings): boolean {
  return before.pythonPath !== after.pythonPath || before.command.join("\0") !== after.command.join("\0");
}

// The editor marks a value of the wrong type in the settings file and gives it to us all the same.

function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string" && each !== "") : [];
}
