/** The menu behind the status bar's entry: what makes sense now, the likeliest first. */

import type { Server } from "./status";
import { toggled } from "./off";
import type { Settings } from "./settings";

export interface Entry {
  readonly label: string;
  readonly command: string; // without `foretype.`
  readonly description?: string;
}

export interface Here {
  readonly language: string | undefined;
  readonly folder: string | undefined;
}

export function entries(server: Server, settings: Settings, here: Here): Entry[] {
  const found: Entry[] = [];
  const add = (label: string, command: string, description = ""): number => found.push({ label, command, description });
  if (server.kind === "missing") {
    add("$(cloud-download) Install Foretype…", "install");
  }
  if (server.kind === "missing" || server.kind === "ended") {
    add("$(debug-restart) Start the Language Server", "restartServer");
  } else {
    const phase = server.kind === "running" ? server.engine?.phase : undefined;
    if (phase === "stopped" || phase === "unavailable" || phase === "failed") {
      add("$(play) Start Engine", "startEngine");
    } else {
      add("$(debug-stop) Stop Engine", "stopEngine", "for all editors");
    }
    add("$(debug-restart) Restart Engine", "restartEngine");
    add("$(arrow-swap) Switch Pair…", "switchPair");
  }
  if (here.language) {
    add(offOn(settings.languagesOff, here.language) + ` for ${here.language}`, "toggleLanguage");
  }
  if (here.folder) {
    add(`${offOn(settings.foldersOff, here.folder)} in This Folder`, "toggleFolder", here.folder.split(/[\\/]/).at(-1));
  }
  add(settings.enabled ? "$(circle-slash) Switch Off Everywhere" : "$(check) Switch On", "toggle");
  add("$(pulse) Check Health", "checkHealth");
  add("$(graph) Open Numbers", "showNumbers");
  add("$(output) Open Log", "openLog");
  add("$(output) Open Engine Log", "openEngineLog");
  return found;
}

function offOn(list: readonly string[], entry: string): string {
  return toggled(list, entry).includes(entry) ? "$(circle-slash) Switch Off" : "$(check) Switch On";
}
