/** A document in memory for the tests: a string, edited as an editor would. */

import { advance, compare, type Edit, type Position, type TextSource } from "../../src/session/position";

export class MemoryDocument implements TextSource {
  constructor(public text: string) {}

  slice(start: Position, end: Position): string {
    return this.text.slice(this.offset(start), this.offset(end));
  }

  /** Replace what is from `start` to `end`; what changed, as the editor tells it. */
  edit(start: Position, end: Position, text: string): Edit {
    this.text = this.text.slice(0, this.offset(start)) + text + this.text.slice(this.offset(end));
    return { start, end, text };
  }

  get end(): Position {
    return advance({ line: 0, character: 0 }, this.text);
  }

  private offset(position: Position): number {
    let at: Position = { line: 0, character: 0 };
    for (let offset = 0; offset < this.text.length; offset++) {
      if (compare(at, position) >= 0) {
        return offset;
      }
      at = this.text[offset] === "\n" ? { line: at.line + 1, character: 0 } : { ...at, character: at.character + 1 };
    }
    return this.text.length;
  }
}

export function at(line: number, character: number): Position {
  return { line, character };
}
