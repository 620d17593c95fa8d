/** One request to the server that runs, and what was typed while it ran. Knows nothing of VS Code. */

import { compare, plain, type Edit, type Position, type TextSource } from "./position";
import { Suggestion, type WireItem } from "./suggestion";

/** An item of a reply; `start` and `end` as the server knew the document. `grown` came behind its text since. */
export interface ReplyItem {
  readonly grown: string;
  readonly item: WireItem;
  readonly start: Position;
  readonly end: Position;
}

export class Asked {
  readonly done: Promise<void>;
  private readonly heads = new Map<string, string>();
  private readonly region: Suggestion;
  private edits = 0;
  private finish: () => void = () => undefined;

  constructor(
    readonly anchor: Position,
    readonly invoked: boolean,
    readonly since: number,
    readonly abort: AbortController,
  ) {
    this.region = new Suggestion("", NOTHING, anchor, "");
    this.done = new Promise((resolve) => (this.finish = resolve));
  }

  /** Whether an answer could still be of use: all edits since were made where it will stand. */
  get alive(): boolean {
    return this.region.alive && !this.abort.signal.aborted;
  }

  /** Whether the document is as it was when the request began. */
  get untouched(): boolean {
    return this.edits === 0;
  }

  /** Whether `cursor` is where the answer will stand. */
  covers(cursor: Position): boolean {
    return this.alive && compare(this.anchor, cursor) <= 0 && compare(cursor, this.region.end) <= 0;
  }

  /** `document` is as it is after the edit. */
  onEdit(edit: Edit, document: TextSource): void {
    this.edits += 1;
    this.region.onEdit(edit);
    if (this.region.alive) {
      const end = this.region.end;
      this.heads.set(key(end), plain(document.slice(this.anchor, end)));
    }
  }

  settle(): void {
    this.finish();
  }

  /**
   * Suggestions from the reply. The server may have seen some of the keys since, so that its text belongs behind them:
   * what was typed up to there is put before it.
   */
  suggestions(items: readonly ReplyItem[], document: TextSource): Suggestion[] {
    if (!this.alive) {
      return [];
    }
    const found: Suggestion[] = [];
    for (const { item, start, end, grown } of items) {
      const id = idOf(item);
      if (id === undefined || compare(start, this.anchor) < 0 || start.line !== end.line) {
        continue;
      }
      const head = this.heads.get(key(start)) ?? plain(document.slice(this.anchor, start));
      const here = this.region.end;
      const tail = document.slice(here, { line: here.line, character: here.character + end.character - start.character });
      const text = head + plain(item.insertText) + grown;
      found.push(new Suggestion(id, item, this.anchor, text, head.length, tail, here));
    }
    return found;
  }
}

/** The id of a suggestion, undefined where the server gave none. */
export function idOf(item: WireItem): string | undefined {
  const id: unknown = item.command.arguments[0];
  return typeof id === "string" ? id : undefined;
}

/** The item of a request that nobody has answered. */
const NOTHING: WireItem = { insertText: "", command: { title: "", command: "", arguments: [] } };

function key(position: Position): string {
  return `${position.line}:${position.character}`;
}
