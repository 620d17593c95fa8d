/**
 * The language server's process: find, start, restart, and say what became of it.
 *
 * A server that ends is started again a few times, without a message for each.
 */

import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  type LanguageClientOptions,
} from "vscode-languageclient/node";
import type { Found } from "./locate";
import { findForetype } from "./places";
import * as protocol from "./protocol";
import type { Sessions } from "./sessions";
import { serverOptions, type Settings } from "./settings";
import type { Server } from "./status";

const SCHEMES = ["file", "untitled", "vscode-notebook-cell", "vscode-remote", "vscode-vfs"];
const MOST_RESTARTS = 4; // within
const RESTART_WINDOW = 180_000; // ms

export class ServerLink implements vscode.Disposable {
  state: Server = { kind: "starting" };
  found: Found | undefined;
  private readonly changed = new vscode.EventEmitter<Server>();
  readonly onChange = this.changed.event;
  private client: LanguageClient | undefined;
  private ends: number[] = [];
  private turn = Promise.resolve(); // one start at a time

  constructor(
    private readonly sessions: Sessions,
    private readonly log: vscode.LogOutputChannel,
    private settings: Settings,
  ) {}

  /** Start the server, or another one in its place. */
  start(): Promise<void> {
    this.turn = this.turn.then(() => this.replace());
    return this.turn;
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.sessions.clear();
    if (client?.needsStop()) {
      await client.stop().catch(() => undefined); // it may have ended meanwhile
    }
    await client?.dispose().catch(() => undefined);
  }

  /** Give a running server new settings. */
  async configure(settings: Settings): Promise<void> {
    this.settings = settings;
    if (this.client?.isRunning()) {
      this.sessions.clear(); // what was excluded may not be any more
      await this.client.sendNotification("workspace/didChangeConfiguration", {
        settings: { foretype: serverOptions(settings) },
      });
    }
  }

  /** Run one of the server's commands. Undefined where there is no server, or it failed. */
  async run<T>(command: string, ...args: unknown[]): Promise<T | undefined> {
    if (!this.client?.isRunning()) {
      return undefined;
    }
    try {
      return await this.client.sendRequest<T>("workspace/executeCommand", { command, arguments: args });
    } catch (error) {
      this.log.warn(`${command} failed: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }

  get running(): boolean {
    return this.live !== undefined;
  }

  /** The client, while its server runs. */
  get live(): LanguageClient | undefined {
    return this.client?.isRunning() ? this.client : undefined;
  }

  dispose(): void {
    this.changed.dispose();
  }

  private async replace(): Promise<void> {
    await this.stop();
    this.found = await findForetype(this.settings);
    if (!this.found) {
      this.become({ kind: "missing" });
      return;
    }
    this.log.info(`starting ${this.found.command} (found by ${this.found.from})`);
    this.become({ kind: "starting" });
    const client = new LanguageClient(
      "foretype",
      "Foretype",
      { command: this.found.command, args: [...this.found.args, "lsp"] },
      this.options(),
    );
    this.client = client;
    this.sessions.attach(client);
    client.onNotification(protocol.status, (engine) => this.told(engine));
    try {
      await client.start();
      this.become({ kind: "running", engine: undefined });
    } catch (error) {
      this.ended(error instanceof Error ? error.message : String(error));
    }
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: SCHEMES.map((scheme) => ({ scheme })),
      initializationOptions: serverOptions(this.settings),
      middleware: this.sessions.middleware,
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationFailedHandler: () => false, // `start` says so
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => this.closed(),
      },
    };
  }

  private closed(): { action: CloseAction; handled: boolean } {
    const now = Date.now();
    this.ends = [...this.ends.filter((end) => now - end < RESTART_WINDOW), now];
    if (this.ends.length <= MOST_RESTARTS) {
      this.become({ kind: "starting" });
      return { action: CloseAction.Restart, handled: true };
    }
    this.ended("It ended several times in a row.");
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private told(engine: protocol.EngineStatus): void {
    const before = this.state.kind === "running" ? this.state.engine?.phase : undefined;
    this.become({ kind: "running", engine });
    if (engine.phase === "ready" && before !== "ready") {
      void this.sessions.engineReady();
    }
  }

  private ended(detail: string): void {
    this.log.error(`the language server has ended: ${detail}`);
    this.become({ kind: "ended", detail });
  }

  private become(state: Server): void {
    this.state = state;
    this.changed.fire(state);
  }
}
