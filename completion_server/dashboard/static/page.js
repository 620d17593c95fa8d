// Asks for the numbers and puts them on the page; every few seconds again, keys every second.

import { PARTS, bars, chart, element, legend, nothing, round, trace } from "./charts.js";

const token = location.hash.slice(1);
const state = { days: 7, last: 0, keys: [], found: null };
const KEPT_KEYS = 240;
const FEW = 10; // a share of fewer says little
const DECADES = [[1, "1 ms"], [10, "10 ms"], [100, "100 ms"], [1000, "1 s"], [10000, "10 s"]];

async function ask(path) {
  const reply = await fetch(path, { headers: { Authorization: `Bearer ${token}` } });
  if (!reply.ok) throw new Error(reply.status === 403 ? await reply.text() : (await reply.json()).error);
  return reply.json();
}

function put(id, ...nodes) {
  document.getElementById(id).replaceChildren(...nodes);
}

function say(text, bad = false) {
  const place = document.getElementById("state");
  place.textContent = text;
  place.className = bad ? "bad" : "";
}

// The width that a chart has inside the card it goes to.
const widthOf = (id) => Math.max(240, document.getElementById(id).clientWidth);

const percent = (share) => (share === null || share === undefined ? "–" : `${round(100 * share)} %`);
const milliseconds = (value) => (value === null || value === undefined ? "–" : `${round(value)} ms`);
const shares = { from: 0, to: 1, ticks: [[0, "0"], [0.25, "25 %"], [0.5, "50 %"], [0.75, "75 %"], [1, "100 %"]] };

function tiles(total) {
  const key = total.keystroke_to_suggestion_ms;
  const shown = [
    [percent(total.suggestion_acceptance_rate), `accepted of ${total.shown} shown`],
    [percent(total.character_acceptance_rate), "accepted, by characters"],
    [percent(total.persistence_2min), "still there after 2 min"],
    [milliseconds(key.p50), "key to suggestion, p50"],
    [milliseconds(key.p95), `suggestion, p95; p99 ${round(key.p99)}`],
    [milliseconds(total.ttft_ms.p95), `first text, p95; p50 ${round(total.ttft_ms.p50)}`],
    [percent(total.goodput), "of suggestions in time"],
    [percent(total.cached_token_ratio), "of prompt tokens cached"],
    [percent(total.draft_acceptance_rate), "of drafted tokens accepted"],
    [round(total.acceptance_length), "tokens a pass"],
  ];
  put("tiles", ...shown.map(([value, name]) => element("div", { class: "tile" }, element("b", {}, value), element("span", {}, name))));
}

function acceptance(points, since, now) {
  if (!points.length) return put("acceptance", nothing("No suggestion was shown in this period."));
  const day = (at) => new Date(at * 1000).toLocaleDateString(undefined, { month: "short", day: "numeric" });
  const hour = (at) => new Date(at * 1000).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  const name = now - since > 2 * 86400 ? day : hour;
  const middle = (since + now) / 2;
  const ticks = [[since + 0.06 * (now - since), name(since)], [middle, name(middle)], [now - 0.05 * (now - since), name(now)]];
  const line = { name: "accepted", points: points.map((point) => [point.start, point.rate]) };
  put("acceptance", chart({ series: [line], x: { from: since, to: now, ticks }, y: shares, label: "acceptance over time", width: widthOf("acceptance") }));
}

function latency(curves, limits) {
  const series = Object.entries(curves).map(([name, points]) => ({ name, points })).filter((curve) => curve.points.length);
  if (!series.length) return put("latency", nothing("The engine answered no request in this period."));
  const lines = [[limits.first_tokens_ms, `${limits.first_tokens_ms} ms`], [limits.suggestion_ms, `${limits.suggestion_ms} ms`]];
  const x = { from: 1, to: 10000, log: true, ticks: DECADES };
  put("latency", chart({ series, x, y: shares, limits: lines, label: "latency distribution", width: widthOf("latency") }), legend(series.map((curve) => curve.name)));
}

function drafters(byName) {
  const enough = (place) => place.drafted >= FEW;
  const series = Object.entries(byName)
    .map(([name, places]) => ({ name, points: places.filter(enough).map((place) => [place.position, place.rate]) }))
    .filter((one) => one.points.length);
  if (!series.length) return put("drafters", nothing("Hardly anything was drafted in this period."));
  const most = Math.max(...series.flatMap((one) => one.points.map((point) => point[0])), 4);
  const ticks = Array.from({ length: most }, (_, at) => [at + 1, `${at + 1}`]).filter((_, at) => most < 10 || at % 2 === 0);
  put("drafters", chart({ series, x: { from: 1, to: most, ticks }, y: shares, label: "accepted by position", width: widthOf("drafters") }), legend(series.map((one) => one.name)));
}

function spent(stages) {
  if (!stages.length) return put("spent", nothing("No request ended in this period."));
  put("spent", bars(stages.map((stage) => ({ name: stage.stage, value: stage.p50, reach: stage.p95 })), "ms", "time by stage", widthOf("spent")));
}

// What took longest: all rounds count as one, because many short ones are what a long suggestion waits for.
function slowest(stages) {
  const isRound = ([name]) => name.startsWith("round ");
  const rounds = stages.filter(isRound);
  const together = [rounds.length === 1 ? "1 round" : `${rounds.length} rounds`, rounds.reduce((sum, [, took]) => sum + took, 0)];
  return stages.filter((stage) => !isRound(stage)).reduce((most, stage) => (stage[1] > most[1] ? stage : most), together);
}

function slow(requests) {
  if (!requests.length) return put("slow", nothing("No request took longer than its limit."));
  put("slow", ...requests.map((request) => {
    const longest = slowest(request.stages);
    const when = new Date(request.time * 1000).toLocaleString();
    const text = `${round(request.total_ms)} ms · ${request.language || "no language"} · ${request.pair} · ${when} · mostly ${longest[0]} (${round(longest[1])} ms)`
      + (request.shown_ms ? ` · on the screen after ${round(request.shown_ms)} ms` : "");
    return element("div", { class: "request" }, element("p", {}, text), trace(request.stages, request.total_ms));
  }), legend(PARTS));
}

function groups(byKind) {
  const heads = ["", "keys", "shown", "accepted", "by characters", "key p50", "p95", "p99", "in time"];
  const table = element("table", {}, element("tr", {}, ...heads.map((head) => element("th", {}, head))));
  for (const [kind, rows] of Object.entries(byKind)) {
    table.append(element("tr", { class: "head" }, element("th", { colspan: heads.length }, kind)));
    for (const [name, one] of Object.entries(rows)) {
      const key = one.keystroke_to_suggestion_ms;
      const cells = [name || "–", one.keystrokes, one.shown, percent(one.suggestion_acceptance_rate), percent(one.character_acceptance_rate),
        round(key.p50), round(key.p95), round(key.p99), percent(one.goodput)];
      table.append(element("tr", {}, ...cells.map((cell) => element("td", {}, String(cell)))));
    }
  }
  put("groups", table);
}

function keys() {
  if (!state.keys.length) return put("live", nothing("Waiting for the first key."));
  const points = (wanted) => state.keys.map((key, at) => [at + 1, Math.max(key.suggestion_ms, 0.1), key.outcome])
    .filter((point) => wanted(point[2])).map(([at, ms]) => [at, ms]);
  const series = [
    { name: "from the engine", points: points((outcome) => outcome === "engine") },
    { name: "nothing shown", points: points((outcome) => outcome !== "engine" && outcome !== "from-cache") },
    { name: "typed through", points: points((outcome) => outcome === "from-cache") },
  ];
  const y = { from: 0.1, to: 10000, log: true, ticks: [[0.1, "0.1 ms"], ...DECADES] };
  put("live", chart({ series, x: { from: 0, to: Math.max(state.keys.length + 1, 40), ticks: [] }, y, dots: true, label: "the latest keys", width: widthOf("live") }), legend(series.map((one) => one.name)));
}

function show(found) {
  tiles(found.total);
  acceptance(found.acceptance, found.since, found.now);
  latency(found.latency, found.limits);
  drafters(found.total.drafters);
  spent(found.spent);
  slow(found.slow);
  groups(found.groups);
}

async function refresh() {
  try {
    state.found = await ask(`/api/numbers?days=${state.days}`);
    show(state.found);
    say(`${state.found.total.keystrokes} keys`);
  } catch (error) {
    say(error.message, true);
  }
}

async function follow() {
  try {
    const found = await ask(`/api/live?after=${state.last}`);
    state.last = found.last;
    state.keys = state.keys.concat(found.keys).slice(-KEPT_KEYS);
    if (found.keys.length || !document.getElementById("live").hasChildNodes()) keys();
  } catch {
    // `refresh` says what is wrong.
  }
}

for (const button of document.querySelectorAll("button[data-days]")) {
  button.addEventListener("click", () => {
    state.days = Number(button.dataset.days);
    for (const other of document.querySelectorAll("button[data-days]")) other.setAttribute("aria-pressed", other === button);
    refresh();
  });
}

// Charts are drawn to the width of their place.
addEventListener("resize", () => {
  if (state.found) show(state.found);
  keys();
});

async function repeatedly(call, milliseconds) {
  await call();
  setTimeout(() => repeatedly(call, milliseconds), milliseconds);
}

repeatedly(refresh, 5000);
repeatedly(follow, 1000);
