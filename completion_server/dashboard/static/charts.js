// Charts as SVG elements; values in, nodes out. No text of a user ever comes here, and all text is set as text.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 210;
const LEFT = 44;
const RIGHT = 10;
const TOP = 8;
const BOTTOM = 24;

export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  return filled(node, attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

export function nothing(text) {
  return element("p", { class: "empty" }, text);
}

// `width` is that of the place on the page, so that text keeps its size.
// `series`: [{name, points: [[x, y], …]}]; `x`, `y`: {from, to, ticks: [[value, label], …], log}; `limits`: [[x, label], …]
export function chart({ series, x, y, limits = [], dots = false, label, width, height = HEIGHT }) {
  const across = scale(x, LEFT, width - RIGHT);
  const up = scale(y, height - BOTTOM, TOP);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const [value, name] of y.ticks) {
    const at = up(value);
    root.append(svg("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: at, y2: at }));
    root.append(svg("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, name));
  }
  for (const [value, name] of x.ticks) {
    root.append(svg("text", { x: across(value), y: height - 6, "text-anchor": "middle" }, name));
  }
  limits.forEach(([value, name], number) => {
    const at = across(value);
    root.append(svg("line", { class: "limit", x1: at, x2: at, y1: TOP, y2: height - BOTTOM }));
    root.append(svg("text", { class: "limit-name", x: at + 3, y: height - BOTTOM - 6 - 14 * number }, name));
  });
  series.forEach(({ points }, number) => {
    const group = svg("g", { class: `s${number % 4}` });
    const places = points.map(([a, b]) => [across(a), up(b)]);
    if (!dots) {
      group.append(svg("polyline", { class: "curve", points: places.map((place) => place.join(",")).join(" ") }));
    }
    if (dots || points.length < 25) {
      for (const [a, b] of places) group.append(svg("circle", { class: "dot", cx: a, cy: b, r: dots ? 2.5 : 3 }));
    }
    root.append(group);
  });
  return root;
}

export function legend(names) {
  return element("div", { class: "legend" }, ...names.map((name, number) => element("span", { class: `s${number % 4}` }, name)));
}

// `rows`: [{name, value, reach}]; a bar to `value`, a thin one to `reach`.
export function bars(rows, unit, label, width) {
  const step = 34;
  const most = Math.max(...rows.map((row) => row.reach), 1);
  const root = svg("svg", { viewBox: `0 0 ${width} ${rows.length * step}`, role: "img", "aria-label": label });
  const across = (value) => (value / most) * (width - 130);
  rows.forEach(({ name, value, reach }, number) => {
    const top = number * step;
    root.append(svg("text", { x: 0, y: top + 11 }, name));
    const group = svg("g", { class: "s0" });
    group.append(svg("rect", { class: "reach", x: 0, y: top + 20, width: across(reach), height: 4, rx: 2 }));
    group.append(svg("rect", { class: "bar", x: 0, y: top + 17, width: across(value), height: 10, rx: 2 }));
    root.append(group);
    root.append(svg("text", { x: across(reach) + 6, y: top + 26 }, `${round(value)} ${unit} · p95 ${round(reach)}`));
  });
  return root;
}

// Who had a request in which of its stages; all others are rounds.
export const PARTS = ["rounds", "queue and prompt", "language server", "editor"];
const PART_OF = new Map([
  ...["queued", "tokenized", "prefix matched", "prefill"].map((name) => [name, 1]),
  ...["sent", "trimmed", "returned", "way to the server", "way to the engine"].map((name) => [name, 2]),
  ...["key", "painted"].map((name) => [name, 3]),
]);

// `stages`: [[name, milliseconds], …], one behind the other. Ways are pale.
export function trace(stages, total) {
  const root = svg("svg", { viewBox: "0 0 1000 16", preserveAspectRatio: "none", role: "img", "aria-label": "stages" });
  let from = 0;
  stages.forEach(([name, took]) => {
    const width = (took / total) * 1000;
    const kind = name.startsWith("way ") ? "reach" : "bar";
    const bar = svg("rect", { class: `${kind} s${PART_OF.get(name) ?? 0}`, x: from, y: 0, width: Math.max(width - 1, 0.5), height: 16 });
    bar.append(svg("title", {}, `${name}: ${round(took)} ms`));
    root.append(bar);
    from += width;
  });
  return root;
}

export function round(value) {
  if (value === null || value === undefined) return "–";
  return Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString();
}

function scale({ from, to, log }, low, high) {
  const shape = log ? Math.log10 : (value) => value;
  const span = shape(to) - shape(from) || 1;
  return (value) => low + ((shape(Math.min(Math.max(value, from), to)) - shape(from)) / span) * (high - low);
}
