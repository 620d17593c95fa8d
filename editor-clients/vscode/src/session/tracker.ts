/**
 * What becomes of the suggestion that is on the screen, as events for the server.
 *
 * VS Code tells an extension neither that ghost text was painted nor that a part of it was taken. Both are worked out
 * here: what was handed to the editor and still holds counts as shown (the server counts it only if it stays), and
 * text that came in without a key of the person was taken. Knows nothing of VS Code or of how events travel.
 */

import type { TextSource } from "./position";
import type { Suggestion, WireItem } from "./suggestion";

export type Ending = "dismissed" | "replaced" | "hidden";

export interface Events {
  shown(item: WireItem): void;
  /** `length` in UTF-16 code units from the start of the item's text. */
  partlyAccepted(item: WireItem, length: number): void;
  /** `length` in UTF-16 code units, all that was typed under this id. */
  typedThrough(id: string, length: number): void;
  ended(id: string, how: Ending): void;
}

interface Current {
  suggestion: Suggestion;
  consumed: number; // of the suggestion's text, UTF-16 code units
  reach: number; // the most that was consumed so far: what comes back after a backspace isn't counted again
  typed: number;
  unexplained: number; // came in with the last edit; whether typed or taken shows when the cursor moves
}

export class Tracker {
  private current: Current | undefined;

  constructor(private readonly events: Events) {}

  /** The suggestion on the screen, as far as can be told. */
  get showing(): Suggestion | undefined {
    return this.current?.suggestion;
  }

  /** Whether all of it is in the document; if it was taken, `accepted` follows. */
  get complete(): boolean {
    return this.current?.consumed === this.current?.suggestion.text.length;
  }

  /** The editor was given `suggestion` to show. */
  offered(suggestion: Suggestion, document: TextSource): void {
    if (this.current?.suggestion.id === suggestion.id) {
      this.current.suggestion = suggestion;
      return;
    }
    this.end("replaced");
    const consumed = suggestion.consumed(document) ?? 0;
    this.current = { suggestion, consumed, reach: consumed, typed: 0, unexplained: 0 };
    this.events.shown(suggestion.item);
  }

  /** The document was edited. */
  edited(document: TextSource): void {
    const current = this.current;
    if (!current) {
      return;
    }
    this.explain(current, current.unexplained <= 1);
    const consumed = current.suggestion.consumed(document);
    if (consumed === undefined) {
      this.end("hidden");
      return;
    }
    current.consumed = consumed;
    current.unexplained = Math.max(0, consumed - current.reach);
  }

  /** The cursor moved, by a key or the mouse (`byHand`) or because a command moved it. */
  moved(byHand: boolean, eol: string): void {
    const current = this.current;
    if (!current) {
      return;
    }
    const all = this.complete;
    if (current.unexplained > 0 && !byHand && !all) {
      this.events.partlyAccepted(current.suggestion.item, taken(current, eol));
    }
    if (byHand || !all) {
      this.explain(current, byHand);
    } // else `accepted` follows
    if (all && byHand) {
      this.flush(current);
      this.current = undefined;
    }
  }

  /** The person took all that was left. */
  accepted(id: string): void {
    const current = this.current;
    if (current?.suggestion.id === id) {
      this.flush(current);
      this.current = undefined;
    }
  }

  end(how: Ending): void {
    const current = this.current;
    if (!current) {
      return;
    }
    this.explain(current, current.unexplained <= 1);
    this.flush(current);
    this.current = undefined;
    this.events.ended(current.suggestion.id, how);
  }

  private explain(current: Current, typed: boolean): void {
    if (typed) {
      current.typed += current.unexplained;
    }
    current.reach = Math.max(current.reach, current.consumed);
    current.unexplained = 0;
  }

  private flush(current: Current): void {
    if (current.typed > 0) {
      this.events.typedThrough(current.suggestion.id, current.typed);
    }
  }
}

/** How much of the item is in the document, in the document's own line ends. */
function taken(current: Current, eol: string): number {
  const text = current.suggestion.text.slice(current.suggestion.base, current.consumed);
  return text.length + (eol.length - 1) * (text.split("\n").length - 1);
}
