/**
 * Tests that run in the editor's extension host. The engine follows `tests/editors/vscode/script.json` (see there).
 *
 * Ghost text can't be read from here: what is committed to the document can.
 */

import assert from "node:assert/strict";
import * as vscode from "vscode";

const PATIENCE = 10_000; // ms

const tests: [string, () => Promise<void>][] = [];

function test(name: string, body: () => Promise<void>): void {
  tests.push([name, body]);
}

/** What the editor calls. Throws if a test failed. */
export async function run(): Promise<void> {
  const failed: string[] = [];
  for (const [name, body] of tests) {
    try {
      await body();
      console.log(`ok ${name}`);
    } catch (error) {
      failed.push(name);
      console.error(`FAILED ${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
  }
  if (failed.length > 0) {
    throw new Error(`failed: ${failed.join("; ")}`);
  }
}

async function until(holds: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!(await holds())) {
    assert.ok(Date.now() < end, what());
    await new Promise((done) => setTimeout(done, 20));
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

async function open(document: vscode.TextDocument): Promise<vscode.TextEditor> {
  const editor = await vscode.window.showTextDocument(document);
  const end = document.lineAt(document.lineCount - 1).range.end;
  editor.selection = new vscode.Selection(end, end);
  return editor;
}

/** Type letter by letter, as the editor's keyboard does. */
async function type(text: string): Promise<void> {
  for (const letter of text) {
    await vscode.commands.executeCommand("type", { text: letter });
  }
}

/** Take the suggestion as soon as there is one: until then the command does nothing. */
async function take(editor: vscode.TextEditor, command = "editor.action.inlineSuggest.commit"): Promise<void> {
  const { version } = editor.document;
  await until(
    async () => {
      await vscode.commands.executeCommand(command);
      return editor.document.version !== version;
    },
    () => `nothing to take behind ${JSON.stringify(editor.document.getText())}`,
  );
}

function lastLine(editor: vscode.TextEditor): string {
  return editor.document.lineAt(editor.document.lineCount - 1).text;
}

async function scratch(name: string): Promise<vscode.TextEditor> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? assert.fail("no folder is open");
  const uri = vscode.Uri.joinPath(folder, name);
  await vscode.workspace.fs.writeFile(uri, new Uint8Array());
  return open(await vscode.workspace.openTextDocument(uri));
}

test("every command of package.json is there", async () => {
  const extension = vscode.extensions.getExtension("foretype.foretype") ?? assert.fail("not installed");
  await extension.activate();
  const manifest = extension.packageJSON as { contributes: { commands: { command: string }[] } };
  const there = new Set(await vscode.commands.getCommands(true));
  const missing = manifest.contributes.commands.filter(({ command }) => !there.has(command));
  assert.deepEqual(missing, []);
});

test("a suggestion is taken whole, the cursor behind it, and one undo takes it back", async () => {
  const editor = await scratch("whole.py");
  await type("total = ");
  await take(editor);
  assert.equal(lastLine(editor), "total = sum(values)");
  assert.deepEqual(editor.selection.active, new vscode.Position(0, 19));
  await vscode.commands.executeCommand("undo");
  assert.equal(lastLine(editor), "total = ");
});

test("several lines are taken, the cursor at their end", async () => {
  const editor = await scratch("lines.py");
  await type("def add");
  await take(editor);
  await until(
    async () => {
      await vscode.commands.executeCommand("editor.action.inlineSuggest.commit"); // the rest, where it grew later
      return editor.document.lineCount === 2;
    },
    () => editor.document.getText(),
  );
  assert.equal(editor.document.getText(), "def add(a, b):\n    return a + b");
  assert.deepEqual(editor.selection.active, new vscode.Position(1, 16));
});

test("the server hears where a cursor has come to rest", async () => {
  const editor = await scratch("moved.py");
  await editor.edit((edit) => edit.insert(editor.selection.active, "one\ntwo\nthree\n"));
  editor.selection = new vscode.Selection(1, 2, 1, 2);
  await pause(500); // looked at in the record of what was said
});

test("words are taken one by one", async () => {
  const editor = await scratch("words.py");
  await type("total = ");
  await take(editor, "editor.action.inlineSuggest.acceptNextWord");
  assert.equal(lastLine(editor), "total = sum");
  await take(editor);
  assert.equal(lastLine(editor), "total = sum(values)");
});

test("what was typed through is not doubled, and other text takes nothing stale", async () => {
  const editor = await scratch("through.py");
  await type("total = ");
  await pause(300);
  await type("su");
  await take(editor);
  assert.equal(lastLine(editor), "total = sum(values)");
  await type("\ntotal = ");
  await pause(300);
  await type("x");
  await vscode.commands.executeCommand("editor.action.inlineSuggest.commit");
  assert.equal(lastLine(editor), "total = x");
});

test("untitled documents, names with spaces and letters of other alphabets", async () => {
  const untitled = await open(await vscode.workspace.openTextDocument({ language: "python" }));
  await type("total = ");
  await take(untitled);
  assert.equal(lastLine(untitled), "total = sum(values)");
  const named = await scratch("ein größeres Beispiel – 例.py");
  await type("total = ");
  await take(named);
  assert.equal(lastLine(named), "total = sum(values)");
});

test("a cell of a notebook", async () => {
  const data = new vscode.NotebookData([new vscode.NotebookCellData(vscode.NotebookCellKind.Code, "", "python")]);
  const notebook = await vscode.workspace.openNotebookDocument("jupyter-notebook", data);
  await vscode.window.showNotebookDocument(notebook);
  await vscode.commands.executeCommand("notebook.cell.edit");
  const cell = notebook.cellAt(0).document;
  await until(() => vscode.window.activeTextEditor?.document === cell, () => "the cell has no editor");
  await type("total = ");
  const editor = vscode.window.activeTextEditor ?? assert.fail();
  await take(editor);
  assert.equal(lastLine(editor), "total = sum(values)");
});

test("nothing with several cursors, and nothing in a secret", async () => {
  const editor = await scratch("cursors.py");
  await type("\n");
  editor.selections = [0, 1].map((line) => new vscode.Selection(line, 0, line, 0));
  await type("total = ");
  await pause(400);
  await vscode.commands.executeCommand("editor.action.inlineSuggest.commit");
  assert.equal(editor.document.getText(), "total = \ntotal = ");
  const secret = await scratch(".env");
  await type("total = ");
  await pause(400);
  await vscode.commands.executeCommand("editor.action.inlineSuggest.commit");
  assert.equal(secret.document.getText(), "total = ");
});

test("a reply for a document that was closed meanwhile does no harm", async () => {
  await scratch("late.py");
  await type("slow = ");
  await pause(100);
  await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  const editor = await scratch("after.py");
  await pause(600);
  await type("total = ");
  await take(editor);
  assert.equal(lastLine(editor), "total = sum(values)");
});

test("off for a language means off, and on again on", async () => {
  const editor = await scratch("off.py");
  const configuration = vscode.workspace.getConfiguration("foretype");
  await configuration.update("languagesOff", ["python"], vscode.ConfigurationTarget.Global);
  await pause(200);
  await type("total = ");
  await pause(400);
  await vscode.commands.executeCommand("editor.action.inlineSuggest.commit");
  assert.equal(lastLine(editor), "total = ");
  await configuration.update("languagesOff", undefined, vscode.ConfigurationTarget.Global);
  await pause(200);
  await type("\ntotal = ");
  await take(editor);
  assert.equal(lastLine(editor), "total = sum(values)");
});

test("the health report and the numbers open as pages", async () => {
  await vscode.commands.executeCommand("foretype.checkHealth");
  const health = vscode.window.activeTextEditor?.document ?? assert.fail("no page");
  assert.match(health.getText(), /ok {6}program/);
  assert.match(health.getText(), /Everything works/);
  await vscode.commands.executeCommand("foretype.showNumbers");
  assert.match(vscode.window.activeTextEditor?.document.getText() ?? "", /pair {10}scripted/);
});
