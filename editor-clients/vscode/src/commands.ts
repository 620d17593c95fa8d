/** The commands of the palette and of the status bar's menu. */

import * as vscode from "vscode";
import { report } from "./health";
import { numbers } from "./numbers";
import { reasonOff, toggled } from "./off";
import type { Pages } from "./pages";
import type { FullStatus, Outcome, Pair } from "./protocol";
import type { ServerLink } from "./server";
import type { Sessions } from "./sessions";
import type { Settings } from "./settings";
import { here } from "./statusBar";

export interface Parts {
  readonly version: string;
  readonly server: ServerLink;
  readonly sessions: Sessions;
  readonly pages: Pages;
  readonly log: vscode.LogOutputChannel;
  readonly settings: () => Settings;
}

const INSTALL = 'python3 -m pip install "foretype[engine]"';

type Handler = (parts: Parts) => Promise<void> | void;

/** Names as in `package.json`, without `foretype.`. The server's own (`foretype.start`, …) are other ones. */
export const HANDLERS: Readonly<Record<string, Handler>> = {
  startEngine: (parts) => change(parts, "foretype.start"),
  stopEngine: (parts) => change(parts, "foretype.stop"),
  restartEngine: (parts) => change(parts, "foretype.restart"),
  restartServer: async ({ server }) => {
    await server.start();
    if (server.state.kind === "missing") {
      await install();
    }
  },
  switchPair,
  toggle: ({ settings }) => write("enabled", !settings().enabled),
  toggleLanguage,
  toggleFolder,
  openLog: ({ log }) => log.show(),
  openEngineLog,
  showNumbers,
  checkHealth,
  install,
  dismiss: async ({ sessions }) => {
    await vscode.commands.executeCommand("editor.action.inlineSuggest.hide");
    sessions.dismiss();
  },
};

export function registerCommands(parts: Parts): vscode.Disposable {
  return vscode.Disposable.from(
    ...Object.entries(HANDLERS).map(([name, handler]) =>
      vscode.commands.registerCommand(`foretype.${name}`, () => handler(parts)),
    ),
  );
}

/** Offer what helps where there is no program to run. Shows the command; the person runs it. */
export async function install(): Promise<void> {
  const show = vscode.l10n.t("Show Install Command");
  const choose = vscode.l10n.t("Choose Program…");
  const chosen = await vscode.window.showWarningMessage(
    vscode.l10n.t("Foretype: the program `foretype` was not found on PATH or in a Python environment."),
    show,
    choose,
  );
  if (chosen === show) {
    const terminal = vscode.window.createTerminal("Foretype");
    terminal.show();
    terminal.sendText(INSTALL, false); // Enter is the person's
  } else if (chosen === choose) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "foretype.command");
  }
}

async function change({ server }: Parts, command: string, ...args: unknown[]): Promise<void> {
  const outcome = await server.run<Outcome>(command, ...args);
  if (!outcome) {
    void vscode.window.showWarningMessage(vscode.l10n.t("Foretype: the language server does not answer."));
  } else if (!outcome.ok) {
    void vscode.window.showWarningMessage(`Foretype: ${outcome.message}`);
  }
}

async function switchPair(parts: Parts): Promise<void> {
  const pairs = (await parts.server.run<Pair[]>("foretype.pairs")) ?? [];
  const items = pairs.map((pair) => ({
    label: pair.name,
    description: pair.loaded ? vscode.l10n.t("loaded") : "",
    detail: pair.draft ? `${pair.target}, ${pair.draft}` : pair.target,
  }));
  const chosen = await vscode.window.showQuickPick(items, { title: vscode.l10n.t("Foretype: switch pair") });
  if (chosen) {
    await change(parts, "foretype.usePair", chosen.label);
  }
}

async function toggleLanguage({ settings }: Parts): Promise<void> {
  const language = here()?.language;
  if (language) {
    await write("languagesOff", toggled(settings().languagesOff, language));
  }
}

async function toggleFolder({ settings }: Parts): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  const folder = document ? vscode.workspace.getWorkspaceFolder(document.uri) : vscode.workspace.workspaceFolders?.[0];
  if (folder) {
    await write("foldersOff", toggled(settings().foldersOff, folder.uri.fsPath));
  }
}

async function write(name: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration("foretype").update(name, value, vscode.ConfigurationTarget.Global);
}

async function openEngineLog({ server, log }: Parts): Promise<void> {
  const path = (await server.run<FullStatus>("foretype.status"))?.engine_log;
  if (path) {
    await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: true });
  } else {
    log.show();
  }
}

async function showNumbers({ server, pages }: Parts): Promise<void> {
  const status = await server.run<FullStatus>("foretype.status");
  await pages.show("Foretype numbers", status ? numbers(status) : "The language server does not answer.\n");
}

async function checkHealth({ server, pages, version, settings }: Parts): Promise<void> {
  const { failing, text } = report({
    editor: `${vscode.env.appName} ${vscode.version}`,
    extension: version,
    program: server.found && `${server.found.command} (${server.found.from})`,
    running: server.running,
    lastWords: server.state.kind === "ended" ? server.state.detail : "",
    status: await server.run<FullStatus>("foretype.status"),
    off: reasonOff(settings(), here()),
  });
  await pages.show("Foretype health", text);
  if (failing) {
    void vscode.window.showWarningMessage(`Foretype: ${failing.name} fails. ${failing.detail}`);
  }
}
