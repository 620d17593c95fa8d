/** From the editor's documents and items to the sessions' own, and back. Keeps nothing. */

import * as vscode from "vscode";
import type { InlineCompletionItem, InlineCompletionList } from "vscode-languageclient/node";
import { idOf, type ReplyItem } from "./session/asked";
import type { TextSource } from "./session/position";
import type { Offer, WireItem } from "./session/suggestion";
import { inDiff } from "./tabs";

const MOST_LINES = 100_000; // of a document that is worth asking for

/** A document that a suggestion may be shown in now. */
export function askable(document: vscode.TextDocument): boolean {
  const editor = vscode.window.activeTextEditor;
  if (document.lineCount > MOST_LINES || editor?.document !== document) {
    return false;
  }
  return editor.selections.length === 1 && editor.selection.isEmpty && !inDiff(vscode.window.tabGroups.activeTabGroup.activeTab);
}

/** What a session sees of a document. */
export function reader(document: vscode.TextDocument): TextSource {
  return {
    slice: (start, end) =>
      document.getText(new vscode.Range(start.line, start.character, end.line, end.character)),
  };
}

/** The editor's item, undefined where the entry that is selected in the completion menu says something else. */
export function toItem(
  offer: Offer,
  document: vscode.TextDocument,
  cursor: vscode.Position,
  selected: vscode.SelectedCompletionInfo | undefined,
): vscode.InlineCompletionItem | undefined {
  const { item } = offer.suggestion;
  const command = { ...item.command, arguments: [...item.command.arguments] };
  const range = new vscode.Range(offer.start.line, offer.start.character, offer.end.line, offer.end.character);
  if (!selected) {
    return new vscode.InlineCompletionItem(offer.insert, range, command);
  }
  const typed = document.getText(new vscode.Range(range.start, cursor));
  const text = document.getText(new vscode.Range(selected.range.start, cursor)) + offer.insert.slice(typed.length);
  if (!text.startsWith(selected.text) || !selected.range.contains(cursor)) {
    return undefined;
  }
  return new vscode.InlineCompletionItem(text, new vscode.Range(selected.range.start, range.end), command);
}

/** The items of the server that can be shown and spoken of. */
export function readReply(reply: InlineCompletionList | InlineCompletionItem[] | null): ReplyItem[] {
  const items = Array.isArray(reply) ? reply : (reply?.items ?? []);
  return items.flatMap(({ insertText, range, command }) => {
    if (typeof insertText !== "string" || !range || !command) {
      return [];
    }
    const item: WireItem = { insertText, command: { ...command, arguments: command.arguments ?? [] } };
    return idOf(item) === undefined ? [] : [{ item, start: range.start, end: range.end, grown: "" }];
  });
}
