/** The page of numbers: what became of today's suggestions. Pure. */

import type { FullStatus } from "./protocol";

export function numbers(status: FullStatus): string {
  const today = Object.entries(status.today ?? {});
  const width = Math.max(0, ...today.map(([name]) => name.length));
  const figure = (value: number | null | undefined, unit: string, factor = 1): string =>
    typeof value === "number" ? `${(factor * value).toFixed(0)} ${unit}` : "nothing yet";
  return [
    "Foretype: numbers of today, in this editor",
    "",
    `pair          ${status.pair || "none"} (${status.phase})`,
    `first token   ${figure(status.warm_ttft_ms, "ms, median, warm")}`,
    `accepted      ${figure(status.acceptance_today, "% of those shown", 100)}`,
    "",
    ...today.map(([name, count]) => `${name.replaceAll("_", " ").padEnd(width)}  ${count}`),
    "",
  ].join("\n");
}
