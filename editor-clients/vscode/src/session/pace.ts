/** How fast the engine answers and the keys come: whether a key sends its own request or waits for the running one. */

const WEIGHT = 0.3; // of the newest measurement in a moving average
const LONGEST_PAUSE = 1_000; // ms; whoever pauses for longer is not typing

export class Pace {
  private latency = 0; // ms, moving average
  private interval = LONGEST_PAUSE; // ms between two keys, moving average
  private lastKey = Number.NEGATIVE_INFINITY;

  /** A key was pressed at `now`, in ms of a clock that never goes back. */
  key(now: number): void {
    const pause = Math.min(now - this.lastKey, LONGEST_PAUSE);
    this.lastKey = now;
    this.interval += WEIGHT * (pause - this.interval);
  }

  /** A request was answered after `ms`. */
  answered(ms: number): void {
    this.latency = this.latency === 0 ? ms : this.latency + WEIGHT * (ms - this.latency);
  }

  /** A running request has taken `ms` so far, so the next ones will hardly take less. */
  pending(ms: number): boolean {
    return Math.max(this.latency, ms) > this.interval;
  }
}
