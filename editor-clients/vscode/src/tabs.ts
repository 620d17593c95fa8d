/** What kind of editor a tab is. */

import * as vscode from "vscode";

/** Two documents side by side: a diff or a merge, where ghost text would be in the way. */
export function inDiff(tab: vscode.Tab | undefined): boolean {
  const input = tab?.input;
  return input instanceof vscode.TabInputTextDiff || input instanceof vscode.TabInputNotebookDiff;
}
