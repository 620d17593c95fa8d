/** Places in a document and how edits move them. Lines and UTF-16 code units from 0, as in LSP and VS Code. */

export interface Position {
  readonly line: number;
  readonly character: number;
}

/** `text` took the place of what stood from `start` to `end`. */
export interface Edit {
  readonly start: Position;
  readonly end: Position;
  readonly text: string;
}

/** The part of a document that suggestions look at. `slice` gives line ends as they are. */
export interface TextSource {
  slice(start: Position, end: Position): string;
}

export function compare(a: Position, b: Position): number {
  return a.line - b.line || a.character - b.character;
}

/** Where a position behind `text` is when `text` stands at `start`. */
export function advance(start: Position, text: string): Position {
  const lines = text.split(/\r\n|\r|\n/);
  const last = lines[lines.length - 1] ?? "";
  if (lines.length === 1) {
    return { line: start.line, character: start.character + last.length };
  }
  return { line: start.line + lines.length - 1, character: last.length };
}

/** Where `position`, at or behind the end of what `edit` replaced, is afterwards. */
export function carry(edit: Edit, position: Position): Position {
  const end = advance(edit.start, edit.text);
  if (position.line === edit.end.line) {
    return { line: end.line, character: end.character + position.character - edit.end.character };
  }
  return { line: position.line + end.line - edit.end.line, character: position.character };
}

/** `text` with `\n` for every line end. */
export function plain(text: string): string {
  return text.replace(/\r\n|\r/g, "\n");
}
