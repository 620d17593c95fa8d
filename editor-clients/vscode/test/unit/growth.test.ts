/** Replies that are held back until they are whole. */

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Growth } from "../../src/growth";

const WANTED = new AbortController().signal;

test("a suggestion that is whole at once waits for nothing", async () => {
  assert.equal(await new Growth().rest("s1", WANTED), "");
});

test("what grows until it is done comes with the reply; later text belongs to what was shown", async () => {
  const growth = new Growth();
  growth.begin("s1");
  const rest = growth.rest("s1", WANTED);
  assert.ok(growth.add("s1", "\r\none", false));
  assert.ok(growth.add("s1", " two", true));
  assert.equal(await rest, "\none two");
  assert.ok(!growth.add("s1", "three", true));
});

test("what takes too long comes later", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const growth = new Growth();
  growth.begin("s1");
  const rest = growth.rest("s1", WANTED);
  growth.add("s1", "one", false);
  mock.timers.tick(1_000);
  assert.equal(await rest, "one");
  assert.ok(!growth.add("s1", "two", true));
  mock.timers.reset();
});

test("nobody waits for a reply that was given up", async () => {
  const growth = new Growth();
  const controller = new AbortController();
  growth.begin("s1");
  const rest = growth.rest("s1", controller.signal);
  controller.abort();
  assert.equal(await rest, "");
});
