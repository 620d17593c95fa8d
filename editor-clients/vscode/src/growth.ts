/**
 * Puts text that has grown behind a suggestion on the screen.
 *
 * VS Code keeps the suggestion that it shows when it is asked again, and takes the longer one for an alternative to it.
 * So it is told to go to the next alternative: that changes the ghost text in one step, without a frame that has none,
 * and does nothing where none is visible. Knows nothing of documents.
 */

import type { Session } from "./session/session";
import type { Suggestion } from "./session/suggestion";

const NEXT = "editor.action.inlineSuggest.showNext";
const PAINTING = 60; // ms from the answer to ghost text that can be seen, generously
const STEP = 120; // ms between two steps of growth

export class Growth {
  private offeredId = "";
  private offeredLength = 0;
  private earliest = 0;
  private timer: NodeJS.Timeout | undefined;

  /** `step` runs a command of the editor. */
  constructor(private readonly step: (command: string) => Promise<void>) {}

  /** The editor was given `suggestion` as it is now. */
  offered(suggestion: Suggestion): void {
    if (this.offeredId !== suggestion.id) {
      this.earliest = performance.now() + PAINTING;
    }
    this.offeredId = suggestion.id;
    this.offeredLength = suggestion.text.length;
  }

  /** What `session` shows has grown. */
  grown(session: Session): void {
    if (this.timer) {
      return; // it takes this along
    }
    this.timer = setTimeout(
      () => {
        this.timer = undefined;
        const showing = session.tracker.showing;
        if (showing?.id === this.offeredId && showing.text.length > this.offeredLength) {
          this.earliest = performance.now() + STEP;
          void this.step(NEXT);
        }
      },
      Math.max(0, this.earliest - performance.now()),
    );
  }

  /** Let nothing grow until the next suggestion. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.offeredId = "";
  }
}
