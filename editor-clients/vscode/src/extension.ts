/** Foretype for VS Code: starts the language server and puts the parts together. */

import * as vscode from "vscode";
import { HANDLERS, install, registerCommands, type Parts } from "./commands";
import { Cursor } from "./cursor";
import { entries } from "./menu";
import { Pages } from "./pages";
import { ServerLink } from "./server";
import { Sessions } from "./sessions";
import { needsRestart, readSettings, type Settings } from "./settings";
import { StatusBar } from "./statusBar";

let server: ServerLink | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  let settings = read();
  const log = vscode.window.createOutputChannel("Foretype", { log: true });
  const sessions = new Sessions();
  const link = (server = new ServerLink(sessions, log, settings));
  const pages = new Pages();
  const bar = new StatusBar(link, () => settings);
  const { version } = context.extension.packageJSON as { version: string };
  const parts: Parts = { version, server: link, sessions, pages, log, settings: () => settings };
  context.subscriptions.push(
    log,
    sessions,
    link,
    pages,
    bar,
    new Cursor(() => link.live),
    registerCommands(parts),
    vscode.commands.registerCommand("foretype.menu", () => menu(parts)),
    vscode.workspace.onDidGrantWorkspaceTrust(() => link.state.kind === "missing" && void link.start()),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("foretype")) {
        const before = settings;
        settings = read();
        await link.configure(settings);
        bar.update();
        if (needsRestart(before, settings)) {
          await link.start();
        }
      }
    }),
  );
  await link.start();
  if (link.state.kind === "missing") {
    void install(); // once a session: the status bar goes on saying it
  }
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

function read(): Settings {
  const configuration = vscode.workspace.getConfiguration("foretype");
  return readSettings((name) => configuration.get(name));
}

async function menu(parts: Parts): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  const folder = document && vscode.workspace.getWorkspaceFolder(document.uri)?.uri.fsPath;
  const chosen = await vscode.window.showQuickPick(
    entries(parts.server.state, parts.settings(), { language: document?.languageId, folder }),
    { title: "Foretype" },
  );
  await (chosen && HANDLERS[chosen.command]?.(parts));
}
