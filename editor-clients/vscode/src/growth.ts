/**
 * Suggestions whose reply was only their beginning.
 *
 * VS Code can't be given more of a suggestion that it shows: asked again it keeps the one on the screen, and whatever
 * would change its mind shows a frame without ghost text. So a reply is held back until the suggestion is whole, but no
 * longer than a person would notice; what comes later follows when the beginning was taken or typed.
 */

import { plain } from "./session/position";

const PATIENCE = 120; // ms
const MOST = 8; // replies on their way

interface Growing {
  text: string;
  readonly done: Promise<void>;
  finish(): void;
}

export class Growth {
  private readonly growing = new Map<string, Growing>();

  /** The reply with suggestion `id`, which comes next, is not all of it. */
  begin(id: string): void {
    let finish = (): void => undefined;
    const done = new Promise<void>((resolve) => (finish = resolve));
    this.growing.set(id, { text: "", done, finish });
    const [oldest] = this.growing.keys();
    if (oldest !== undefined && this.growing.size > MOST) {
      this.growing.delete(oldest); // its request was cancelled, so nobody will come for it
    }
  }

  /** More of `id`. False where nobody waits for it: then it belongs to what was shown. */
  add(id: string, text: string, done: boolean): boolean {
    const growing = this.growing.get(id);
    if (growing) {
      growing.text += plain(text);
      if (done) {
        growing.finish();
      }
    }
    return growing !== undefined;
  }

  /** What has come behind the reply when `id` is whole, or it takes too long, or nobody wants it any more. */
  async rest(id: string, signal: AbortSignal): Promise<string> {
    const growing = this.growing.get(id);
    if (!growing) {
      return "";
    }
    const timer = setTimeout(() => growing.finish(), PATIENCE);
    signal.addEventListener("abort", () => growing.finish(), { once: true });
    await growing.done;
    clearTimeout(timer);
    this.growing.delete(id);
    return growing.text;
  }

  clear(): void {
    for (const growing of this.growing.values()) {
      growing.finish();
    }
    this.growing.clear();
  }
}
