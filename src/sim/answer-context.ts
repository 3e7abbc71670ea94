import { type Refusal, statusOf } from './api-status.ts';
import type { Asked, AskedResource, RequestFacts } from './asked.ts';
import type { Behaviour } from './behaviour.ts';
import type { ClusterState } from './cluster-state.ts';
import type { ContainerLogs } from './container-logs.ts';
import type { Outlet } from './outlet.ts';
import type { ServedRequest } from './request-log.ts';
import type { OpenStream } from './watch-stream.ts';
import type { WriteLog } from './write-log.ts';

/** One cluster, for those who answer its requests. */
export interface SimServer {
  readonly state: ClusterState;
  readonly behaviour: Behaviour;
  readonly watches: Set<OpenStream>;
  readonly logs: ContainerLogs;
  readonly writes: WriteLog;
  /** Containers say something by themselves. */
  readonly talkative: boolean;
  readonly bookmarkSeconds: number;
  /** What `/version` says: `v1.36.3`. */
  gitVersion: string;
  token: string;
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  /** Tokens for lists of that revision and older have expired. */
  tokensExpiredAt: number;
}

/** One request that is to be answered. */
export interface AnswerContext {
  readonly server: SimServer;
  readonly asked: Asked;
  readonly facts: RequestFacts;
  readonly request: ServedRequest;
  readonly query: URLSearchParams;
  readonly outlet: Outlet;
  /** The whole body, or undefined if it is larger than a server reads. May be asked for again. */
  readonly body: () => Promise<string | undefined>;
}

/** The same for a resource. */
export interface ResourceContext extends AnswerContext {
  readonly asked: AskedResource;
}

const jsonHeaders = { 'content-type': 'application/json', 'cache-control': 'no-cache, private' };

/** Sends a JSON text as the whole answer. */
export function answerJson(
  { outlet }: Pick<AnswerContext, 'outlet'>,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(text);
  outlet.head(status, { ...jsonHeaders, 'content-length': String(bytes.length), ...headers });
  if (bytes.length > 0) outlet.write(bytes);
  outlet.end();
}

/** Sends a Status, with Retry-After where it says when to come again. */
export function answerRefusal(context: Pick<AnswerContext, 'outlet'>, refused: Refusal): void {
  const seconds = refused.details?.retryAfterSeconds;
  answerJson(context, refused.code, JSON.stringify(statusOf(refused)), seconds === undefined ? {} : { 'retry-after': String(seconds) });
}

/** Sends text as the whole answer. */
export function answerText({ outlet }: Pick<AnswerContext, 'outlet'>, status: number, text: string): void {
  outlet.head(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'x-content-type-options': 'nosniff',
  });
  outlet.write(text);
  outlet.end();
}

/** The headers of an answer whose length is not known. */
export const streamHeaders: Readonly<Record<string, string>> = jsonHeaders;
