/**
 * Tells the language server where the person has gone to, so that the text there is read before their first key.
 *
 * Only when the cursor rests: moving through a file is not typing.
 */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { askable } from "./items";
import * as protocol from "./protocol";

const REST = 200; // ms

export class Cursor implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly client: () => LanguageClient | undefined) {
    this.subscriptions = [
      vscode.window.onDidChangeTextEditorSelection(() => this.moved()),
      vscode.window.onDidChangeActiveTextEditor(() => this.moved()),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private moved(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tell(), REST);
  }

  private tell(): void {
    const editor = vscode.window.activeTextEditor;
    const client = this.client();
    if (editor && client && askable(editor.document)) {
      const params = client.code2ProtocolConverter.asTextDocumentPositionParams(editor.document, editor.selection.active);
      void client.sendNotification(protocol.cursor, params);
    }
  }
}
