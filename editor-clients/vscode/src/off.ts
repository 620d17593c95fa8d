/** Where a person wants no suggestions. Pure. */

import type { Settings } from "./settings";

export interface Place {
  readonly language: string;
  readonly path: string; // empty where the document is in no file
}

/** Why there are no suggestions at `place`, empty where there are. */
export function reasonOff(settings: Settings, place: Place | undefined): string {
  if (!settings.enabled) {
    return "Suggestions are switched off.";
  }
  if (place && settings.languagesOff.includes(place.language)) {
    return `Suggestions are off for ${place.language}.`;
  }
  const folder = place && settings.foldersOff.find((each) => inside(each, place.path));
  return folder ? `Suggestions are off in ${folder}.` : "";
}

/** `list` with `entry`, or without it where it was there. */
export function toggled(list: readonly string[], entry: string): string[] {
  return list.includes(entry) ? list.filter((each) => each !== entry) : [...list, entry];
}

/** Whether `path` is `folder` or in it; both absolute. */
function inside(folder: string, path: string): boolean {
  const base = folder.replace(/[\\/]+$/, "");
  return path === base || path.startsWith(`${base}/`) || path.startsWith(`${base}\\`);
}
