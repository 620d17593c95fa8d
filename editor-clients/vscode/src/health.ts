/** The health check's report: every hop from the key to the models, and the first that fails. Pure. */

import type { FullStatus, Hop } from "./protocol";

export interface Checked {
  readonly editor: string; // name and version
  readonly extension: string; // version
  readonly program: string | undefined; // where `foretype` is and how it was found
  readonly running: boolean; // the language server
  readonly lastWords: string; // of a language server that ended
  readonly status: FullStatus | undefined; // undefined where the server did not answer
  readonly off: string; // as in `reasonOff`
}

export interface Report {
  readonly failing: Hop | undefined;
  readonly text: string;
}

export function report(checked: Checked): Report {
  const hops = hopsOf(checked);
  const failing = hops.find((hop) => !hop.ok);
  const lines = hops.map((hop) => `${hop.ok ? "ok     " : "FAILS  "} ${hop.name}: ${hop.detail}`);
  const advice = failing && ADVICE[failing.name];
  const verdict = failing ? `${failing.name} fails: ${failing.detail}` : "Everything works.";
  const { status, off } = checked;
  const notes = [
    ...(advice ? [advice] : []),
    ...(off ? [`${off} That is a setting, not a fault.`] : []),
    ...(status?.problem ? [`Last trouble: ${status.problem}`] : []),
    ...(status?.engine_log ? [`Engine's log: ${status.engine_log}`] : []),
  ];
  const text = ["Foretype: health", "", verdict, "", ...lines, ...(notes.length ? ["", ...notes] : []), ""].join("\n");
  return { failing, text };
}

function hopsOf(checked: Checked): Hop[] {
  const hops: Hop[] = [
    { name: "extension", ok: true, detail: `${checked.extension} in ${checked.editor}` },
    {
      name: "program",
      ok: checked.program !== undefined,
      detail: checked.program ?? "`foretype` is neither on PATH nor in a Python environment that was chosen",
    },
  ];
  if (checked.program === undefined) {
    return hops;
  }
  if (!checked.running || !checked.status) {
    const detail = checked.running ? "it does not answer" : `it does not run. ${checked.lastWords}`.trim();
    return [...hops, { name: "language server", ok: false, detail }];
  }
  return [...hops, ...(checked.status.hops ?? [])];
}

const ADVICE: Readonly<Record<string, string>> = {
  program: "Install it (command “Foretype: Install…”), or name it in setting foretype.command or foretype.pythonPath.",
  "language server": "Run the program in a terminal with `lsp --help`; its last words are in the log (“Foretype: Open Log”).",
  engine: "Start it with “Foretype: Start Engine”; if that fails, the engine's log says why.",
  models: "`foretype pull PAIR` fetches them; `foretype doctor` in a terminal says more.",
};
