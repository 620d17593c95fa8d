/** The entry in the status bar, kept in step with the server and the active editor. */

import * as vscode from "vscode";
import { reasonOff } from "./off";
import type { ServerLink } from "./server";
import type { Settings } from "./settings";
import { present } from "./status";

export class StatusBar implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly subscriptions: vscode.Disposable;

  constructor(
    private readonly server: ServerLink,
    private readonly settings: () => Settings,
  ) {
    this.item = vscode.window.createStatusBarItem("foretype.status", vscode.StatusBarAlignment.Right, 100);
    this.item.name = "Foretype";
    this.item.command = "foretype.menu";
    this.item.show();
    this.subscriptions = vscode.Disposable.from(
      this.item,
      server.onChange(() => this.update()),
      vscode.window.onDidChangeActiveTextEditor(() => this.update()),
    );
    this.update();
  }

  update(): void {
    const shown = present(this.server.state, reasonOff(this.settings(), here()));
    this.item.text = shown.text;
    this.item.tooltip = new vscode.MarkdownString(shown.tooltip);
    this.item.accessibilityInformation = { label: `Foretype: ${shown.tooltip.replace(/[*`]/g, "")}` };
    this.item.backgroundColor =
      shown.severity === "none" ? undefined : new vscode.ThemeColor(`statusBarItem.${shown.severity}Background`);
  }

  dispose(): void {
    this.subscriptions.dispose();
  }
}

/** The active document as `reasonOff` looks at it. */
export function here(): { language: string; path: string } | undefined {
  const document = vscode.window.activeTextEditor?.document;
  return document && { language: document.languageId, path: document.isUntitled ? "" : document.uri.fsPath };
}
