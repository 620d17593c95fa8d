/** What people read: status, menu, health, numbers; and where the program is found. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { report, type Checked } from "../../src/health";
import { locate, type Places } from "../../src/locate";
import { entries } from "../../src/menu";
import { numbers } from "../../src/numbers";
import { reasonOff, toggled } from "../../src/off";
import type { EngineStatus } from "../../src/protocol";
import { needsRestart, readSettings, serverOptions } from "../../src/settings";
import { present, type Server } from "../../src/status";

const NOWHERE: Places = { command: [], pythonPath: "", path: "", activePython: undefined, home: "", windows: false };
const DEFAULTS = readSettings(() => undefined);
const READY: EngineStatus = {
  phase: "ready",
  pair: "embedded",
  detail: "",
  fraction: null,
  warm_ttft_ms: 24.4,
  acceptance_today: 0.305,
};

function running(engine: Partial<EngineStatus>): Server {
  return { kind: "running", engine: { ...READY, ...engine } };
}

test("the program is found in the order: command, interpreter, PATH, active environment, home", () => {
  const there = new Set(["/usr/bin/foretype", "/env/bin/foretype", "/home/me/.local/bin/foretype"]);
  const find = (places: Partial<Places>): string | undefined =>
    locate({ ...NOWHERE, ...places }, (file) => there.has(file))?.command;
  const all = { path: "/bin:/usr/bin", activePython: "/env/bin/python", home: "/home/me" };
  assert.equal(find({ ...all, command: ["/mine", "--x"], pythonPath: "/py" }), "/mine");
  assert.equal(find({ ...all, pythonPath: "/py" }), "/py");
  assert.equal(find(all), "/usr/bin/foretype");
  assert.equal(find({ ...all, path: "/bin" }), "/env/bin/foretype");
  assert.equal(find({ home: "/home/me" }), "/home/me/.local/bin/foretype");
  assert.equal(find({ path: "/bin" }), undefined);
});

test("arguments of the command stay; an interpreter runs the module", () => {
  assert.deepEqual(locate({ ...NOWHERE, command: ["ssh", "box", "foretype"] }, () => false)?.args, ["box", "foretype"]);
  assert.deepEqual(locate({ ...NOWHERE, pythonPath: "/py" }, () => false)?.args, ["-m", "completion_server"]);
});

test("the status bar names each state", () => {
  const text = (server: Server, off = ""): string => present(server, off).text;
  assert.match(text(running({ phase: "loading", fraction: 0.42 })), /spin.* 42 %/);
  assert.equal(text(running({})), "$(sparkle) Foretype");
  assert.match(text(running({}), "Suggestions are off for markdown."), /circle-slash/);
  assert.equal(present({ kind: "missing" }, "").severity, "error");
  const unavailable = present(running({ phase: "unavailable", detail: "no model" }), "");
  assert.equal(unavailable.severity, "warning");
  assert.match(unavailable.tooltip, /no model/);
});

test("the tooltip has pair, first token and acceptance, each only where there is one", () => {
  assert.equal(
    present(running({}), "").tooltip,
    "**embedded** is ready\n\nFirst token after 24 ms (median, warm)\n\n31 % accepted today",
  );
  assert.equal(
    present(running({ warm_ttft_ms: null, acceptance_today: null }), "").tooltip,
    "**embedded** is ready",
  );
});

test("the menu offers to start what stands and to stop what runs", () => {
  const commands = (server: Server): string[] =>
    entries(server, DEFAULTS, { language: "go", folder: "/w" }).map((entry) => entry.command);
  assert.equal(commands(running({}))[0], "stopEngine");
  assert.equal(commands(running({ phase: "stopped" }))[0], "startEngine");
  assert.deepEqual(commands({ kind: "missing" }).slice(0, 2), ["install", "restartServer"]);
  const off = entries(running({}), { ...DEFAULTS, languagesOff: ["go"] }, { language: "go", folder: undefined });
  assert.ok(off.some((entry) => entry.label === "$(check) Switch On for go"));
});

test("off by language, by folder and everywhere", () => {
  const place = { language: "markdown", path: "/home/me/notes/a.md" };
  assert.equal(reasonOff(DEFAULTS, place), "");
  assert.match(reasonOff({ ...DEFAULTS, enabled: false }, undefined), /switched off/);
  assert.match(reasonOff({ ...DEFAULTS, languagesOff: ["markdown"] }, place), /markdown/);
  assert.match(reasonOff({ ...DEFAULTS, foldersOff: ["/home/me/notes/"] }, place), /notes/);
  assert.equal(reasonOff({ ...DEFAULTS, foldersOff: ["/home/me/note"] }, place), "");
  assert.deepEqual(toggled(toggled(["a"], "b"), "a"), ["b"]);
});

const CHECKED: Checked = {
  editor: "Code 1.91",
  extension: "0.1.0",
  program: "/usr/bin/foretype (PATH)",
  running: true,
  lastWords: "",
  status: { ...READY, hops: [{ name: "language server", ok: true, detail: "0.1.0" }] },
  off: "",
};

test("health names the first hop that fails, and what to do", () => {
  assert.equal(report(CHECKED).failing, undefined);
  assert.match(report(CHECKED).text, /Everything works/);
  assert.equal(report({ ...CHECKED, program: undefined }).failing?.name, "program");
  assert.equal(report({ ...CHECKED, running: false, status: undefined }).failing?.name, "language server");
  const hops = [{ name: "engine", ok: false, detail: "no socket" }];
  const dead = report({ ...CHECKED, status: { ...READY, hops } });
  assert.equal(dead.failing?.name, "engine");
  assert.match(dead.text, /FAILS {3}engine: no socket/);
  assert.match(dead.text, /Start Engine/);
});

test("numbers say where there are none", () => {
  const text = numbers({ ...READY, acceptance_today: null, today: { shown: 13, typed_through: 2 } });
  assert.match(text, /accepted {6}nothing yet/);
  assert.match(text, /typed through {2}2/);
});

test("a setting of the wrong type is its default, and the server gets no name that it doesn't know", () => {
  const odd: Record<string, unknown> = { maxLines: "many", languagesOff: "go", exclude: ["*.x", 3], pair: 7 };
  const settings = readSettings((name) => odd[name]);
  assert.equal(settings.maxLines, 12);
  assert.deepEqual(settings.languagesOff, []);
  assert.deepEqual(settings.exclude, ["*.x"]);
  assert.equal(serverOptions(settings)["pair"], null);
  assert.ok(!("min_confidence" in serverOptions(settings)));
  assert.equal(serverOptions({ ...settings, minConfidence: 0 })["min_confidence"], 0);
  assert.ok(needsRestart(settings, { ...settings, pythonPath: "/py" }));
  assert.ok(!needsRestart(settings, { ...settings, maxLines: 3 }));
});
