/**
 * What the server said at one place, kept right while the document is edited.
 *
 * A suggestion holds from its anchor on. As long as every edit falls into what came in behind the anchor, that is what
 * was typed since, and if it is the head of the suggestion the rest still holds: no request is needed. The same rules as
 * in the server (`lsp/suggestion.py`), so that both say the same. Knows nothing of VS Code.
 */

import { advance, carry, compare, plain, type Edit, type Position, type TextSource } from "./position";

const CLOSERS = /^[)\]}>"'`; \t]{0,8}$/;

/** The server's item as it came: events carry it back. */
export interface WireItem {
  readonly insertText: string;
  readonly command: { readonly title: string; readonly command: string; readonly arguments: readonly unknown[] };
}

/** `insert` takes the place of what stands from `start` to `end`, all on the cursor's line. */
export interface Offer {
  readonly suggestion: Suggestion;
  readonly start: Position;
  readonly end: Position;
  readonly insert: string;
}

export class Suggestion {
  /** Behind all that came in at the anchor since. */
  end: Position;
  alive = true;

  /**
   * @param anchor where it was asked for
   * @param text all of it from the anchor on, with `\n` line ends
   * @param base UTF-16 code units of `text` before the beginning of `item.insertText`
   * @param tail what stands behind `end` and goes when the suggestion is accepted
   */
  constructor(
    readonly id: string,
    readonly item: WireItem,
    readonly anchor: Position,
    public text: string,
    readonly base = 0,
    readonly tail = "",
    end: Position = anchor,
  ) {
    this.end = end;
  }

  onEdit(edit: Edit): void {
    if (compare(edit.start, this.anchor) < 0 || compare(edit.end, this.end) > 0) {
      this.alive = false;
      return;
    }
    this.end = carry(edit, this.end);
  }

  /** How to show it with the cursor there; undefined where it does not hold or nothing of it is left. */
  offer(document: TextSource, cursor: Position): Offer | undefined {
    if (!this.alive || compare(cursor, this.anchor) < 0 || compare(cursor, this.end) > 0) {
      return undefined;
    }
    const typed = plain(document.slice(this.anchor, cursor));
    const behind = document.slice(cursor, this.end);
    if (!this.text.startsWith(typed) || this.text.length === typed.length || !CLOSERS.test(behind)) {
      return undefined;
    }
    const rest = this.text.slice(typed.length);
    const covers = contains(rest, behind); // else the closers that the editor inserted stay behind it
    let end = covers ? this.end : cursor;
    if (this.tail) {
      const last = advance(this.end, this.tail);
      if (!covers || document.slice(this.end, last) !== this.tail) {
        return undefined;
      }
      end = last;
    }
    // From the anchor where that is on the cursor's line: the editor then knows it for the one that it shows.
    const whole = this.anchor.line === cursor.line;
    return { suggestion: this, start: whole ? this.anchor : cursor, end, insert: whole ? this.text : rest };
  }

  /** UTF-16 code units of `text` that stand in the document, closers behind them left out; undefined if it differs. */
  consumed(document: TextSource): number | undefined {
    if (!this.alive) {
      return undefined;
    }
    const typed = plain(document.slice(this.anchor, this.end));
    for (let length = typed.length; length >= 0; length--) {
      if (!CLOSERS.test(typed.slice(length))) {
        return undefined;
      }
      if (this.text.startsWith(typed.slice(0, length))) {
        return length;
      }
    }
    return undefined;
  }
}

/** The last few suggestions of one document, newest first, so that backspace brings back what was there. */
export class Shelf {
  private kept: Suggestion[] = [];

  put(suggestions: readonly Suggestion[]): void {
    const ids = new Set(suggestions.map((each) => each.id));
    this.kept = [...suggestions, ...this.kept.filter((each) => !ids.has(each.id))].slice(0, 6);
  }

  find(id: string): Suggestion | undefined {
    return this.kept.find((each) => each.id === id);
  }

  onEdit(edit: Edit): void {
    for (const each of this.kept) {
      each.onEdit(edit);
    }
    this.kept = this.kept.filter((each) => each.alive);
  }

  offer(document: TextSource, cursor: Position): Offer | undefined {
    for (const each of this.kept) {
      const offer = each.offer(document, cursor);
      if (offer) {
        return offer;
      }
    }
    return undefined;
  }

  clear(): void {
    this.kept = [];
  }
}

/** Whether the letters of `part` come in `text` in this order. */
function contains(text: string, part: string): boolean {
  let from = 0;
  for (const letter of part) {
    const at = text.indexOf(letter, from);
    if (at < 0) {
      return false;
    }
    from = at + 1;
  }
  return true;
}
