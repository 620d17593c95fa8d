import assert from "node:assert/strict";
import { test } from "node:test";
import { Stopwatch } from "../../src/session/stopwatch";

function clock(): { at: number; watch: Stopwatch } {
  const state = { at: 100 };
  return Object.assign(state, { watch: new Stopwatch(() => state.at) });
}

test("from the key to the editor, in durations", () => {
  const time = clock();
  time.watch.key();
  time.at = 115;
  const sent = time.watch.ask();
  time.at = 215;
  time.watch.replied(sent, "s1");
  time.at = 221;
  assert.deepEqual(time.watch.painted("s1"), { keyMs: 15, replyMs: 100, paintMs: 6 });
  assert.equal(time.watch.painted("s1"), undefined);
});

test("a key leads to one request at most", () => {
  const { watch } = clock();
  watch.key();
  watch.ask();
  watch.replied(watch.ask(), "s1");
  assert.deepEqual(watch.painted("s1"), { replyMs: 0, paintMs: 0 });
});

test("only what the latest reply brought has times", () => {
  const { watch } = clock();
  watch.replied(watch.ask(), "s1");
  watch.replied(watch.ask(), "s2");
  assert.equal(watch.painted("s1"), undefined);
  assert.ok(watch.painted("s2"));
});
