/** Foretype's own messages, as `docs/clients.md` describes them. */

import { NotificationType, type Range, type TextDocumentPositionParams } from "vscode-languageclient/node";
import type { Times } from "./session/stopwatch";
import type { WireItem } from "./session/suggestion";

export type Phase =
  "starting" | "loading" | "ready" | "failed" | "unloaded" | "stopping" | "unavailable" | "stopped";

export interface EngineStatus {
  readonly phase: Phase;
  readonly pair: string;
  readonly detail: string;
  readonly fraction: number | null;
  readonly warm_ttft_ms?: number | null;
  readonly acceptance_today?: number | null;
}

export interface Hop {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** What the command `foretype.status` answers. */
export interface FullStatus extends EngineStatus {
  readonly today?: Readonly<Record<string, number>>;
  readonly problem?: string | null;
  readonly socket?: string;
  readonly engine_log?: string | null;
  readonly log?: string | null;
  readonly hops?: readonly Hop[];
}

/** What the commands that change something answer. */
export interface Outcome {
  readonly ok: boolean;
  readonly message: string;
}

export interface Pair {
  readonly name: string;
  readonly target: string;
  readonly draft: string | null;
  readonly loaded: boolean;
}

export interface Trace {
  readonly id: string;
  readonly uri: string;
  readonly outcome: string;
}

export interface ServerItem extends WireItem {
  readonly range: Range;
}

export const ACCEPTED = "foretype.accepted";

export const status = new NotificationType<EngineStatus>("foretype/status");
export const trace = new NotificationType<Trace>("foretype/trace");
export const grow = new NotificationType<{ id: string; text: string; done: boolean }>("foretype/grow");
export const cursor = new NotificationType<TextDocumentPositionParams>("foretype/cursor");
export const event = new NotificationType<{ id: string; event: string; length?: number } & Partial<Times>>("foretype/event");
export const didShow = new NotificationType<{ item: WireItem }>("textDocument/didShowCompletion");
export const didPartiallyAccept = new NotificationType<{ item: WireItem; acceptedLength: number }>(
  "textDocument/didPartiallyAcceptCompletion",
);
