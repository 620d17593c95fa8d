/**
 * Between VS Code and the sessions: one for each document, fed with edits and cursor moves, asked by the editor.
 *
 * Sits in the language client's middleware, so the editor's own inline suggestions show what it answers.
 */

import * as vscode from "vscode";
import type { LanguageClient, Middleware } from "vscode-languageclient/node";
import { InlineCompletionRequest } from "vscode-languageclient/node";
import { Growth } from "./growth";
import { askable, reader, readReply, toItem } from "./items";
import * as protocol from "./protocol";
import { idOf, type ReplyItem } from "./session/asked";
import { Pace } from "./session/pace";
import type { Position } from "./session/position";
import { Session } from "./session/session";
import { Stopwatch } from "./session/stopwatch";
import type { Offer } from "./session/suggestion";
import type { Events } from "./session/tracker";

export class Sessions implements vscode.Disposable {
  private readonly sessions = new Map<string, Session>();
  private readonly pace = new Pace();
  private readonly subscriptions: vscode.Disposable[] = [];
  private readonly growth = new Growth();
  private readonly stopwatch = new Stopwatch(() => performance.now());
  private client: LanguageClient | undefined;
  private shows = false;
  private automatic = false; // the next explicit request is ours, not the person's
  private unanswered: { uri: string; version: number } | undefined; // asked while the engine loaded

  constructor() {
    this.subscriptions.push(
      vscode.workspace.onDidChangeTextDocument((change) => this.edited(change)),
      vscode.workspace.onDidCloseTextDocument((document) => this.close(document)),
      vscode.window.onDidChangeTextEditorSelection((moved) => this.moved(moved)),
      vscode.window.onDidChangeActiveTextEditor(() => this.hide()),
      vscode.window.onDidChangeWindowState((state) => state.focused || this.hide()),
    );
  }

  /** What the language client has to call. */
  readonly middleware: Middleware = {
    provideInlineCompletionItems: (document, position, context, token) =>
      this.provide(document, position, context, token),
    executeCommand: async (command, args, next) => {
      if (command === protocol.ACCEPTED && typeof args[0] === "string") {
        this.accepted(args[0]);
      }
      return (await next(command, args)) as unknown;
    },
  };

  /** Listen to a client that has not been started yet. */
  attach(client: LanguageClient): void {
    this.clear();
    this.client = client;
    client.onNotification(protocol.grow, ({ id, text, done }) => this.grow(id, text, done));
    client.onNotification(protocol.trace, (trace) => this.traced(trace));
  }

  /** The engine is ready: whoever typed while it loaded need not press another key. */
  async engineReady(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const waiting = this.unanswered;
    this.unanswered = undefined;
    if (editor && waiting?.uri === editor.document.uri.toString() && waiting.version === editor.document.version) {
      await this.again();
    }
  }

  /** The person sent the suggestion away. */
  dismiss(): void {
    for (const session of this.sessions.values()) {
      session.tracker.end("dismissed");
      session.abandon();
    }
  }

  clear(): void {
    for (const session of this.sessions.values()) {
      session.close();
    }
    this.sessions.clear();
    this.growth.clear();
  }

  dispose(): void {
    this.clear();
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  // -- asked by the editor ---------------------------------------------------------------------------------------

  private provide(
    document: vscode.TextDocument,
    position: vscode.Position,
    context: vscode.InlineCompletionContext,
    token: vscode.CancellationToken,
  ): vscode.ProviderResult<vscode.InlineCompletionItem[]> {
    if (!askable(document)) {
      return [];
    }
    const session = this.session(document);
    const invoked = context.triggerKind === vscode.InlineCompletionTriggerKind.Invoke && !this.automatic;
    const version = document.version;
    if (invoked) {
      this.stopwatch.key();
    }
    const give = (offers: Offer[]): vscode.InlineCompletionItem[] => {
      const first = offers[0];
      if (!first || token.isCancellationRequested || document.version !== version) {
        return [];
      }
      const items = offers.map((offer) => toItem(offer, document, position, context.selectedCompletionInfo));
      const shown = items.filter((item) => item !== undefined);
      if (items[0]) {
        session.tracker.offered(first.suggestion, reader(document));
        this.showing(true);
        this.painted(first.suggestion.id);
      }
      return shown;
    };
    const offers = session.provide(position, invoked, token);
    if (Array.isArray(offers)) {
      return give(offers);
    }
    // Cancelled by an edit is for the next call to decide, and the edit may be told later than the cancel.
    const stop = token.onCancellationRequested(() => setTimeout(() => session.abandon(), 30));
    return offers.then(give).finally(() => void stop.dispose());
  }

  private async ask(
    document: vscode.TextDocument,
    cursor: Position,
    invoked: boolean,
    signal: AbortSignal,
  ): Promise<readonly ReplyItem[]> {
    const client = this.client;
    if (!client?.isRunning()) {
      return [];
    }
    const source = new vscode.CancellationTokenSource();
    const abort = (): void => source.cancel();
    signal.addEventListener("abort", abort);
    try {
      const params = client.code2ProtocolConverter.asInlineCompletionParams(
        document,
        new vscode.Position(cursor.line, cursor.character),
        {
          triggerKind: invoked
            ? vscode.InlineCompletionTriggerKind.Invoke
            : vscode.InlineCompletionTriggerKind.Automatic,
          selectedCompletionInfo: undefined, // `toItem` fits the answer to the selected entry
        },
      );
      const sent = this.stopwatch.ask();
      const items = readReply(await client.sendRequest(InlineCompletionRequest.type, params, source.token));
      this.stopwatch.replied(sent, (items[0] && idOf(items[0].item)) ?? "");
      return await Promise.all(
        items.map(async (item) => ({ ...item, grown: await this.growth.rest(idOf(item.item) ?? "", signal) })),
      );
    } catch {
      return []; // cancelled, or the server is gone: that is for the status to tell, not for every key
    } finally {
      signal.removeEventListener("abort", abort);
      source.dispose();
    }
  }

  // -- told by the editor ----------------------------------------------------------------------------------------

  private edited({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const session = this.sessions.get(document.uri.toString());
    if (!session || contentChanges.length === 0) {
      return;
    }
    this.stopwatch.key();
    session.edited(contentChanges.map(({ range, text }) => ({ start: range.start, end: range.end, text })));
    this.follow(session);
  }

  private moved({ textEditor, selections, kind }: vscode.TextEditorSelectionChangeEvent): void {
    const document = textEditor.document;
    const session = this.sessions.get(document.uri.toString());
    const cursor = selections[0]?.active;
    if (!session || !cursor) {
      return;
    }
    const byHand = kind === vscode.TextEditorSelectionChangeKind.Keyboard || kind === vscode.TextEditorSelectionChangeKind.Mouse;
    session.moved(cursor, byHand, document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n");
    this.follow(session);
  }

  private accepted(id: string): void {
    for (const session of this.sessions.values()) {
      session.tracker.accepted(id);
      this.follow(session);
    }
  }

  private painted(id: string): void {
    const times = this.stopwatch.painted(id);
    if (times && this.client?.isRunning()) {
      void this.client.sendNotification(protocol.event, { id, event: "painted", ...times });
    }
  }

  private hide(): void {
    for (const session of this.sessions.values()) {
      session.tracker.end("hidden");
    }
    this.showing(false);
  }

  private close(document: vscode.TextDocument): void {
    this.sessions.get(document.uri.toString())?.close();
    this.sessions.delete(document.uri.toString());
  }

  private follow(session: Session): void {
    if (!session.tracker.showing) {
      this.showing(false);
    }
  }

  // -- told by the server ----------------------------------------------------------------------------------------

  private grow(id: string, text: string, done: boolean): void {
    if (!this.growth.add(id, text, done)) {
      this.sessions.forEach((session) => session.grow(id, text));
    }
  }

  private traced({ uri, outcome, id }: protocol.Trace): void {
    if (outcome === "growing") {
      this.growth.begin(id);
    }
    const session = this.sessions.get(uri);
    if (session) {
      session.excluded = outcome === "excluded";
    }
    if (outcome === "loading" || outcome === "unavailable") {
      const document = vscode.window.activeTextEditor?.document;
      this.unanswered = document && { uri: document.uri.toString(), version: document.version };
    }
  }

  /** For the key that dismisses, see `package.json`. */
  private showing(now: boolean): void {
    if (now !== this.shows) {
      this.shows = now;
      void vscode.commands.executeCommand("setContext", "foretype.showing", now);
    }
  }

  /** Have the editor ask once more, and take that for a key. */
  private async again(): Promise<void> {
    this.automatic = true;
    try {
      await vscode.commands.executeCommand("editor.action.inlineSuggest.trigger");
    } finally {
      this.automatic = false;
    }
  }

  private session(document: vscode.TextDocument): Session {
    const key = document.uri.toString();
    let session = this.sessions.get(key);
    if (!session) {
      session = new Session(
        reader(document),
        (cursor, invoked, signal) => this.ask(document, cursor, invoked, signal),
        this.pace,
        this.events(),
        () => performance.now(),
      );
      this.sessions.set(key, session);
    }
    return session;
  }

  private events(): Events {
    const client = this.client;
    const running = (): LanguageClient | undefined => (client?.isRunning() ? client : undefined);
    return {
      shown: (item) => void running()?.sendNotification(protocol.didShow, { item }),
      partlyAccepted: (item, acceptedLength) =>
        void running()?.sendNotification(protocol.didPartiallyAccept, { item, acceptedLength }),
      typedThrough: (id, length) =>
        void running()?.sendNotification(protocol.event, { id, event: "typedThrough", length }),
      ended: (id, how) => void running()?.sendNotification(protocol.event, { id, event: how }),
    };
  }
}
