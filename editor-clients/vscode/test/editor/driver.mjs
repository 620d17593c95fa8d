// Hands and eyes for the tests: a headless browser with VS Code in it, told what to do by JSON lines on stdin.
//
//   driver.mjs CHROMIUM URL
//   → {"op": "type", "text": "def", "delay": 30}     ← {"ok": true, "value": null}
//
// Each line in gets one line out. Ends when stdin ends, and the browser with it.
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const FLAGS =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";
const [executablePath, url] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, headless: true, args: FLAGS.split(" ") });
const page = await browser.newPage({ viewport: { width: 900, height: 520 } });
const finished = { code: null, log: [] }; // of tests in the extension host
await page.exposeFunction("codeAutomationLog", (_kind, words) => finished.log.push(words.join(" ")));
await page.exposeFunction("codeAutomationExit", (code) => (finished.code = code));

/** The ghost text that is painted, line by line: read in the page. Pieces of one line have the same top. */
function ghost() {
  const lines = new Map();
  for (const element of document.querySelectorAll(".ghost-text, .ghost-text-decoration, .ghost-text-decoration-preview")) {
    const { top, left, height } = element.getBoundingClientRect();
    if (height > 0 && !element.querySelector(".ghost-text") && !element.closest(".quick-input-widget")) {
      lines.set(Math.round(top), [...(lines.get(Math.round(top)) ?? []), { left, text: element.textContent }]);
    }
  }
  const byTop = [...lines].sort(([a], [b]) => a - b).map(([, pieces]) => pieces.sort((a, b) => a.left - b.left));
  const text = byTop.map((pieces) => pieces.map((piece) => piece.text).join("")).join("\n");
  return text.replaceAll("\u00a0", " ").replaceAll("\u200b", "");
}

const OPS = {
  open: async ({ timeout }) => {
    await page.goto(url);
    await page.waitForSelector(".monaco-workbench", { timeout });
  },
  finished: () => finished,
  type: ({ text, delay = 0 }) => page.keyboard.type(text, { delay }),
  press: ({ key }) => page.keyboard.press(key),
  ghost: () => page.evaluate(ghost),
  text: ({ selector }) => page.evaluate((s) => [...document.querySelectorAll(s)].map((e) => e.textContent), selector),
  label: ({ selector }) =>
    page.evaluate((s) => [...document.querySelectorAll(s)].map((e) => e.getAttribute("aria-label")), selector),
  click: ({ selector }) => page.click(selector),
  hover: ({ selector }) => page.hover(selector),
  picture: ({ path, clip }) => page.screenshot({ path, ...(clip ? { clip } : {}) }),
  evaluate: ({ script }) => page.evaluate(script),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { op, ...options } = JSON.parse(line);
  let reply;
  try {
    reply = { ok: true, value: (await OPS[op](options)) ?? null };
  } catch (error) {
    reply = { ok: false, value: String(error) };
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}
await browser.close();
