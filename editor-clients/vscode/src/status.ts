/** What the status bar says. Pure: from what is known to words. */

import type { EngineStatus } from "./protocol";

/** What is known of the server: `missing` and `ended` are without one. */
export type Server =
  | { readonly kind: "missing" }
  | { readonly kind: "starting" }
  | { readonly kind: "ended"; readonly detail: string }
  | { readonly kind: "running"; readonly engine: EngineStatus | undefined };

export interface Presented {
  readonly text: string;
  readonly tooltip: string; // Markdown, one thing a line
  readonly severity: "none" | "warning" | "error";
}

/** `off` says why there are no suggestions in the active document, empty where there are. */
export function present(server: Server, off: string): Presented {
  switch (server.kind) {
    case "missing":
      return say("$(error) Foretype", "error", "The program `foretype` was not found.", "Click to install or choose it.");
    case "starting":
      return say("$(loading~spin) Foretype", "none", "The language server is starting.");
    case "ended":
      return say("$(error) Foretype", "error", `The language server has ended. ${server.detail}`.trim(), "Click for what to do.");
    case "running":
      return off ? say("$(circle-slash) Foretype", "none", off, "Click to change that.") : presentEngine(server.engine);
  }
}

function presentEngine(engine: EngineStatus | undefined): Presented {
  const detail = engine?.detail ?? "";
  switch (engine?.phase) {
    case undefined:
    case "starting":
      return say("$(loading~spin) Foretype", "none", "The engine is starting.", detail);
    case "loading": {
      const percent = engine.fraction ? ` ${Math.round(100 * engine.fraction)} %` : "";
      return say(`$(loading~spin) Foretype${percent}`, "none", `Loading ${engine.pair || "the models"}${percent}`, detail);
    }
    case "ready":
      return say("$(sparkle) Foretype", "none", `**${engine.pair}** is ready`, ...figures(engine));
    case "unloaded":
      return say("$(sparkle) Foretype", "none", `**${engine.pair}** sleeps and loads with the next key`, ...figures(engine));
    case "stopping":
      return say("$(debug-pause) Foretype", "none", "The engine is ending.");
    case "stopped":
      return say("$(debug-stop) Foretype", "none", "The engine is stopped.", "Click to start it.");
    case "failed":
      return say("$(warning) Foretype", "warning", "The models could not be loaded.", detail, "Click for what to do.");
    case "unavailable":
      return say("$(warning) Foretype", "warning", "No engine answers.", detail, "Click for what to do.");
  }
}

function figures(engine: EngineStatus): string[] {
  const lines: string[] = [];
  if (typeof engine.warm_ttft_ms === "number") {
    lines.push(`First token after ${engine.warm_ttft_ms.toFixed(0)} ms (median, warm)`);
  }
  if (typeof engine.acceptance_today === "number") {
    lines.push(`${(100 * engine.acceptance_today).toFixed(0)} % accepted today`);
  }
  return lines;
}

function say(text: string, severity: Presented["severity"], ...lines: string[]): Presented {
  return { text, severity, tooltip: lines.filter(Boolean).join("\n\n") };
}
