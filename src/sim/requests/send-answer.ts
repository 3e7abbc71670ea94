import { type ApiRefusal, statusDocument } from '../kinds/api-status.ts';
import { type SimObject, wireText } from '../kinds/sim-object.ts';
import { acceptedShape } from './media-type.ts';
import type { AnswerContext, ResourceContext } from './sim-server.ts';

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

/** Sends a Status, with the header Retry-After if it has a delay. */
export function answerRefusal(context: Pick<AnswerContext, 'outlet'>, refused: ApiRefusal): void {
  const seconds = refused.details?.retryAfterSeconds;
  answerJson(
    context,
    refused.code,
    JSON.stringify(statusDocument(refused)),
    seconds === undefined ? {} : { 'retry-after': String(seconds) },
  );
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

/** Headers of an answer of unknown length. */
export const streamHeaders: Readonly<Record<string, string>> = jsonHeaders;

export interface AnswerHead {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one object in the requested form. */
export function answerObject(context: ResourceContext, stored: SimObject, { status = 200, headers = {} }: AnswerHead = {}): void {
  const { storage, resource } = context.target;
  const shape = acceptedShape(context.request.headers.accept, storage.kind, 'object');
  if (typeof shape === 'string') answerJson(context, status, wireText(storage.kind, stored, { shape, version: resource.version }), headers);
  else answerRefusal(context, shape);
}
