/**
 * How long a suggestion took from the key to the editor, in durations: no other process shares this one's clock.
 *
 * An extension is told of a key once the text has changed, and never of painting: a suggestion counts as painted once it
 * is handed to the editor, so the editor's own share at both ends is not in it. Knows nothing of VS Code.
 */

/** One request that was sent; stamps in milliseconds, `key` undefined where no key led to it. */
export interface Sent {
  readonly key: number | undefined;
  readonly asked: number;
}

export interface Times {
  readonly keyMs?: number;
  readonly replyMs: number;
  readonly paintMs: number;
}

export class Stopwatch {
  private pressed: number | undefined;
  private came: { readonly id: string; readonly sent: Sent; readonly replied: number } | undefined;

  constructor(private readonly now: () => number) {}

  /** A key changed the text, or asked by itself. */
  key(): void {
    this.pressed = this.now();
  }

  /** A request leaves. Each key leads to one at most. */
  ask(): Sent {
    const sent = { key: this.pressed, asked: this.now() };
    this.pressed = undefined;
    return sent;
  }

  /** Its reply is there, with the suggestion `id` first. */
  replied(sent: Sent, id: string): void {
    this.came = { id, sent, replied: this.now() };
  }

  /** The suggestion `id` is handed to the editor. Its times, once for each reply. */
  painted(id: string): Times | undefined {
    const came = this.came;
    if (came?.id !== id) {
      return undefined;
    }
    this.came = undefined;
    const { key, asked } = came.sent;
    const times = { replyMs: came.replied - asked, paintMs: this.now() - came.replied };
    return key === undefined ? times : { keyMs: asked - key, ...times };
  }
}
