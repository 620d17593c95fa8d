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

/** The ghost text that is painted, a line each, and where: read in the page. */
function ghost() {
  const view = document.querySelector(".monaco-editor.focused, .editor-instance .monaco-editor");
  const visible = (element) => element.getBoundingClientRect().height > 0;
  const within = [...(view ?? document).querySelectorAll(".ghost-text-decoration, .ghost-text-decoration-preview")];
  const first = within.filter(visible).map((element) => element.textContent).join("");
  const lines = [...(view ?? document).querySelectorAll(".ghost-text .view-line, .ghost-text > div")].filter(visible);
  const below = lines.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
  const text = [first, ...below.map((line) => line.textContent)].join("\n");
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
