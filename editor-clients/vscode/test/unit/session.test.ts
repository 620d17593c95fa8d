/** What is shown, asked and reported while somebody types. The server is a function here. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReplyItem } from "../../src/session/asked";
import { Pace } from "../../src/session/pace";
import type { Position } from "../../src/session/position";
import { Session } from "../../src/session/session";
import type { Offer } from "../../src/session/suggestion";
import { at, MemoryDocument } from "./document";

interface Request {
  cursor: Position;
  invoked: boolean;
  signal: AbortSignal;
  answer(...items: ReplyItem[]): Promise<void>;
}

const LIVE = { isCancellationRequested: false };

class Bench {
  readonly document: MemoryDocument;
  readonly requests: Request[] = [];
  readonly events: string[] = [];
  readonly session: Session;
  readonly pace = new Pace();
  now = 0;

  constructor(text: string) {
    this.document = new MemoryDocument(text);
    this.session = new Session(
      this.document,
      (cursor, invoked, signal) =>
        new Promise((resolve) => {
          const answer = async (...items: ReplyItem[]): Promise<void> => {
            resolve(items);
            await new Promise((done) => setImmediate(done));
          };
          signal.addEventListener("abort", () => resolve([]));
          this.requests.push({ cursor, invoked, signal, answer });
        }),
      this.pace,
      {
        shown: (item) => this.events.push(`shown ${item.insertText}`),
        partlyAccepted: (_item, length) => this.events.push(`partly ${length}`),
        typedThrough: (id, length) => this.events.push(`typed ${id} ${length}`),
        ended: (id, how) => this.events.push(`${how} ${id}`),
      },
      () => this.now,
    );
  }

  /** Insert at `cursor` as a key or (`byHand` false) as a command does; the cursor behind it. */
  type(cursor: Position, text: string, byHand = true): Position {
    const edit = this.document.edit(cursor, cursor, text);
    this.session.edited([edit]);
    const end = text.includes("\n") ? this.document.end : at(cursor.line, cursor.character + text.length);
    this.session.moved(end, byHand, "\n");
    return end;
  }

  /** Ask, and answer with `text` under `id` at the cursor. */
  async show(cursor: Position, text: string, id = "s1"): Promise<Offer> {
    const offers = this.session.provide(cursor, false, LIVE);
    await this.requests.at(-1)?.answer(reply(text, cursor, id));
    const [offer] = await offers;
    assert.ok(offer);
    this.session.tracker.offered(offer.suggestion, this.document);
    return offer;
  }

  /** What is offered at `cursor` without a promise, as the text that it leaves behind the cursor. */
  held(cursor: Position): string | undefined {
    const offers = this.session.provide(cursor, false, LIVE);
    assert.ok(Array.isArray(offers), "a request was sent");
    const [offer] = offers;
    return offer?.insert.slice(this.document.slice(offer.start, cursor).length);
  }
}

function reply(text: string, cursor: Position, id = "s1", end = cursor): ReplyItem {
  const command = { title: "", command: "foretype.accepted", arguments: [id] };
  return { item: { insertText: text, command }, start: cursor, end, grown: "" };
}

test("typing through and backspace send nothing", async () => {
  const bench = new Bench("x = ");
  let cursor = at(0, 4);
  await bench.show(cursor, "createModel()");
  for (const letter of "create") {
    cursor = bench.type(cursor, letter);
    assert.ok(bench.held(cursor)?.endsWith("Model()"));
  }
  bench.session.edited([bench.document.edit(at(0, 9), at(0, 10), "")]);
  assert.equal(bench.held(at(0, 9)), "eModel()");
  assert.equal(bench.requests.length, 1);
});

test("the closer that the editor inserts is covered, not doubled", async () => {
  const bench = new Bench("x = ");
  await bench.show(at(0, 4), "f(a)");
  bench.session.edited([bench.document.edit(at(0, 4), at(0, 4), "f")]);
  bench.session.edited([bench.document.edit(at(0, 5), at(0, 5), "()")]);
  const offers = bench.session.provide(at(0, 6), false, LIVE);
  assert.ok(Array.isArray(offers));
  const { start, end, insert } = offers[0] ?? assert.fail("nothing is held");
  bench.document.edit(start, end, insert);
  assert.equal(bench.document.text, "x = f(a)");
});

test("other text than the suggestion's asks anew, and what was shown is hidden", async () => {
  const bench = new Bench("x = ");
  await bench.show(at(0, 4), "bar");
  const cursor = bench.type(at(0, 4), "z");
  void bench.session.provide(cursor, false, LIVE);
  assert.equal(bench.requests.length, 2);
  assert.deepEqual(bench.events, ["shown bar", "hidden s1"]);
});

test("a fast engine's running request gives way to a key", () => {
  const bench = new Bench("x = ");
  bench.pace.answered(5);
  void bench.session.provide(at(0, 4), false, LIVE);
  bench.now = 100;
  const cursor = bench.type(at(0, 4), "a");
  void bench.session.provide(cursor, false, LIVE);
  assert.equal(bench.requests.length, 2);
  assert.ok(bench.requests[0]?.signal.aborted);
});

test("a slow engine's running request is waited for, and its answer used where it agrees", async () => {
  const bench = new Bench("x = ");
  bench.pace.answered(2_000);
  const first = { isCancellationRequested: false };
  void bench.session.provide(at(0, 4), false, first);
  first.isCancellationRequested = true;
  const cursor = bench.type(at(0, 4), "a");
  const offers = bench.session.provide(cursor, false, LIVE);
  assert.equal(bench.requests.length, 1);
  await bench.requests[0]?.answer(reply("abc", at(0, 4)));
  const [offer] = await offers;
  assert.equal(offer?.suggestion.text, "abc");
  assert.equal(bench.requests.length, 1);
});

test("an answer that disagrees with what was typed meanwhile is followed by one new request", async () => {
  const bench = new Bench("x = ");
  bench.pace.answered(2_000);
  void bench.session.provide(at(0, 4), false, LIVE);
  const cursor = bench.type(at(0, 4), "z");
  void bench.session.provide(cursor, false, LIVE);
  await bench.requests[0]?.answer(reply("abc", at(0, 4)));
  assert.deepEqual(bench.requests.map((request) => request.cursor), [at(0, 4), at(0, 5)]);
});

test("an answer for a later cursor than the request's is put behind what was typed up to there", async () => {
  const bench = new Bench("x = ");
  bench.pace.answered(2_000);
  const offers = bench.session.provide(at(0, 4), false, LIVE);
  bench.type(at(0, 4), "a");
  bench.type(at(0, 5), "b");
  await bench.requests[0]?.answer(reply("bc", at(0, 5))); // the server had seen the first of the two keys
  await offers;
  assert.equal(bench.held(at(0, 6)), "c");
});

test("an edit elsewhere makes a running request useless", async () => {
  const bench = new Bench("one\ntwo\nx = ");
  const offers = bench.session.provide(at(2, 4), false, LIVE);
  bench.session.edited([bench.document.edit(at(0, 0), at(1, 0), "")]);
  await bench.requests[0]?.answer(reply("abc", at(2, 4)));
  assert.deepEqual(await offers, []);
});

test("asking by hand asks though something is held, and gives all alternatives", async () => {
  const bench = new Bench("x = ");
  await bench.show(at(0, 4), "one");
  const offers = bench.session.provide(at(0, 4), true, LIVE);
  await bench.requests[1]?.answer(reply("one", at(0, 4)), reply("two", at(0, 4), "s2"));
  assert.deepEqual((await offers).map((offer) => offer.insert), ["one", "two"]);
  assert.ok(bench.requests[1]?.invoked);
});

test("text that is to be replaced must still be there", async () => {
  const bench = new Bench("x = old");
  const offers = bench.session.provide(at(0, 4), false, LIVE);
  await bench.requests[0]?.answer(reply("new(old)", at(0, 4), "s1", at(0, 7)));
  const [offer] = await offers;
  assert.deepEqual(offer?.end, at(0, 7));
  bench.session.edited([bench.document.edit(at(0, 5), at(0, 7), "")]);
  assert.equal(bench.session.held(at(0, 4)), undefined);
});

test("words taken one by one, across a line end, with a key typed in between", async () => {
  const bench = new Bench("x = ");
  let cursor = at(0, 4);
  await bench.show(cursor, "(a,\n  b)");
  cursor = bench.type(cursor, "(", true);
  cursor = bench.type(cursor, "a,", false);
  cursor = bench.type(cursor, "\n  b", false);
  assert.equal(bench.held(cursor), ")");
  bench.type(cursor, ")", false);
  bench.session.tracker.accepted("s1");
  assert.deepEqual(bench.events, ["shown (a,\n  b)", "partly 3", "partly 7", "typed s1 1"]);
  assert.equal(bench.requests.length, 1);
});

test("partly accepted lengths count the document's own line ends", async () => {
  const bench = new Bench("x = ");
  await bench.show(at(0, 4), "a\r\nbc");
  bench.session.edited([bench.document.edit(at(0, 4), at(0, 4), "a\r\nb")]);
  bench.session.moved(at(1, 1), false, "\r\n");
  assert.deepEqual(bench.events.slice(1), ["partly 4"]);
});

test("typed to its end, and nothing counted twice after a backspace", async () => {
  const bench = new Bench("x = ");
  await bench.show(at(0, 4), "ab");
  bench.type(at(0, 4), "a");
  bench.session.edited([bench.document.edit(at(0, 4), at(0, 5), "")]);
  bench.session.moved(at(0, 4), false, "\n");
  bench.type(at(0, 4), "a");
  bench.type(at(0, 5), "b");
  assert.deepEqual(bench.events, ["shown ab", "typed s1 2"]);
});

test("a suggestion that another one follows was replaced; Escape dismisses", async () => {
  const bench = new Bench("x = ");
  await bench.show(at(0, 4), "one");
  const offers = bench.session.provide(at(0, 4), true, LIVE);
  await bench.requests[1]?.answer(reply("two", at(0, 4), "s2"));
  const [offer] = await offers;
  bench.session.tracker.offered(offer?.suggestion ?? assert.fail(), bench.document);
  bench.session.tracker.end("dismissed");
  assert.deepEqual(bench.events, ["shown one", "replaced s1", "shown two", "dismissed s2"]);
});

test("growth goes behind what is there; that of a forgotten suggestion nowhere", async () => {
  const bench = new Bench("x = ");
  await bench.show(at(0, 4), "one");
  bench.session.grow("s1", "\r\n  two");
  bench.session.grow("s9", "three");
  assert.equal(bench.held(at(0, 4)), "one\n  two");
});

test("a document that is a secret is not asked for again", () => {
  const bench = new Bench("x = ");
  bench.session.excluded = true;
  assert.deepEqual(bench.session.provide(at(0, 4), true, LIVE), []);
  assert.equal(bench.requests.length, 0);
});

test("a cancelled request is given up, but not one that was typed over", () => {
  const bench = new Bench("x = ");
  void bench.session.provide(at(0, 4), false, LIVE);
  bench.type(at(0, 4), "a");
  bench.session.abandon();
  assert.ok(!bench.requests[0]?.signal.aborted);
  void bench.session.provide(at(0, 5), true, LIVE);
  bench.session.abandon();
  assert.ok(bench.requests[1]?.signal.aborted);
});
