/**
 * One document: what to show at the cursor, and whether that needs a request.
 *
 * What still holds of earlier answers is given at once and synchronously, so typing through a suggestion and backspace
 * send nothing. At most one request runs; a key that comes meanwhile cancels it where the engine is faster than the
 * fingers, and else waits for it, because its answer may still hold. Knows nothing of VS Code.
 */

import { Asked, type ReplyItem } from "./asked";
import type { Pace } from "./pace";
import { plain, type Edit, type Position, type TextSource } from "./position";
import { Shelf, type Offer } from "./suggestion";
import { Tracker, type Events } from "./tracker";

/** Sends one request. Gives nothing where it failed or was aborted; never rejects. */
export type Ask = (cursor: Position, invoked: boolean, signal: AbortSignal) => Promise<readonly ReplyItem[]>;

/** A caller that may have lost interest. */
export interface Caller {
  readonly isCancellationRequested: boolean;
}

export class Session {
  readonly tracker: Tracker;
  /** The server refuses this document for good: it looks like a secret. */
  excluded = false;
  private readonly shelf = new Shelf();
  private running: Asked | undefined;

  constructor(
    private readonly document: TextSource,
    private readonly ask: Ask,
    private readonly pace: Pace,
    events: Events,
    private readonly now: () => number,
  ) {
    this.tracker = new Tracker(events);
  }

  /** Whether a request runs. */
  get busy(): boolean {
    return this.running !== undefined;
  }

  /** One change of the document, after it was made. `changes` in the order in which they were made. */
  edited(changes: readonly Edit[]): void {
    this.pace.key(this.now());
    for (const change of changes) {
      this.shelf.onEdit(change);
      this.running?.onEdit(change, this.document);
    }
    this.tracker.edited(this.document);
  }

  /** The cursor moved, with or without an edit. */
  moved(cursor: Position, byHand: boolean, eol: string): void {
    this.tracker.moved(byHand, eol);
    const { showing, complete } = this.tracker;
    if (showing && !complete && !showing.offer(this.document, cursor)) {
      this.tracker.end("hidden");
    }
  }

  /** What holds at `cursor` with nobody asked. */
  held(cursor: Position): Offer | undefined {
    return this.shelf.offer(this.document, cursor);
  }

  /** What to show at `cursor`. A promise only where the server is asked. */
  provide(cursor: Position, invoked: boolean, caller: Caller): Offer[] | Promise<Offer[]> {
    const held = invoked ? undefined : this.held(cursor);
    if (held) {
      return [held];
    }
    return this.excluded ? [] : this.request(cursor, invoked, caller);
  }

  /** Append text to a suggestion: it shows when what was there is taken or typed. */
  grow(id: string, text: string): void {
    const suggestion = this.shelf.find(id);
    if (suggestion) {
      suggestion.text += plain(text);
    }
  }

  /** End the running request unless something was typed since it began: then a later call decides. */
  abandon(): void {
    if (this.running?.untouched) {
      this.running.abort.abort();
    }
  }

  close(): void {
    this.running?.abort.abort();
    this.tracker.end("hidden");
    this.shelf.clear();
  }

  private async request(cursor: Position, invoked: boolean, caller: Caller): Promise<Offer[]> {
    while (this.running && !invoked && this.worthWaiting(this.running, cursor)) {
      await this.running.done;
      if (caller.isCancellationRequested) {
        return [];
      }
      const held = this.held(cursor);
      if (held) {
        return [held];
      }
    }
    this.running?.abort.abort();
    const asked = new Asked(cursor, invoked, this.now(), new AbortController());
    this.running = asked;
    const items = await this.ask(cursor, invoked, asked.abort.signal);
    if (asked.alive && items.length > 0) {
      // An empty answer often cost nothing and would make the engine look fast.
      this.pace.answered(this.now() - asked.since);
    }
    const suggestions = asked.suggestions(items, this.document);
    this.shelf.put(suggestions);
    if (this.running === asked) {
      this.running = undefined;
    }
    asked.settle();
    if (caller.isCancellationRequested) {
      return [];
    }
    const offers = suggestions.map((each) => each.offer(this.document, cursor));
    return offers.filter((offer) => offer !== undefined);
  }

  private worthWaiting(running: Asked, cursor: Position): boolean {
    return running.covers(cursor) && (running.untouched || this.pace.pending(this.now() - running.since));
  }
}
