import type { IncomingHttpHeaders } from 'node:http';
import { RequestRefusal } from '../../operations/refusal.ts';
import type { AcceptedAnswer, AnswerType, HttpPlugin } from './http-operation.ts';

/**
 * Returns a plugin that chooses the media type of the answer. It refuses a POST whose body is not JSON in UTF-8, a request that
 * accepts no type that the gateway sends, and a GET from a page of another site. Yoga itself ignores quality values and charsets.
 */
export function useNegotiation(): HttpPlugin {
  return {
    onRequestParse: ({ serverContext: operation }) => {
      const { headers, method } = operation.req;
      if (method === 'POST') requireJson(headers);
      else refuseCrossSite(headers);
      operation.accepted = chooseAnswerType(headers.accept);
      if (operation.accepted.events === 'all') operation.transport = 'sse';
    },
  };
}

/**
 * Refuses a GET without the header `Origin` from a page of another site. A browser sends such a GET to load an image, for example.
 *
 * @throws {RequestRefusal} 403.
 */
function refuseCrossSite({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): void {
  if (origin === undefined && (site === 'cross-site' || site === 'same-site'))
    throw new RequestRefusal({ status: 403, code: 'FORBIDDEN', message: 'expected no request from a page of another site' });
}

/**
 * Requires JSON in UTF-8 that is not compressed. A browser sends such a body to another origin only after a CORS preflight.
 *
 * @throws {RequestRefusal} 415 for anything else.
 */
function requireJson(headers: IncomingHttpHeaders): void {
  const { type, parameters } = parseMediaType(headers['content-type'] ?? '');
  const charset = parameters.get('charset') ?? 'utf-8';
  if (type !== 'application/json' || !/^utf-?8$/.test(charset))
    throw new RequestRefusal({
      status: 415,
      code: 'BAD_INPUT',
      message: `expected a body of application/json in UTF-8, got ${shownHeader(headers['content-type'])}`,
    });
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new RequestRefusal({
      status: 415,
      code: 'BAD_INPUT',
      message: `expected a body that is not compressed, got ${shownHeader(encoding)}`,
    });
}

/**
 * Chooses `application/graphql-response+json` or `application/json`, as the caller prefers. If both have the same quality, chooses
 * `application/graphql-response+json`. If `Accept` is absent or names neither type, chooses `application/json`. Server-sent events are used
 * only if `Accept` names them.
 *
 * @throws {RequestRefusal} 406 if the caller accepts none of the three types.
 */
function chooseAnswerType(accept: string | undefined): AcceptedAnswer {
  if (accept === undefined || accept === '*/*') return { type: 'application/json', events: 'none' };
  const ranges = accept.split(',', 50).map(parseRange);
  const modern = qualityOf('application/graphql-response+json', ranges, false);
  const plain = qualityOf('application/json', ranges, true);
  const events = qualityOf('text/event-stream', ranges, false);
  if (modern === 0 && plain === 0 && events === 0)
    throw new RequestRefusal({
      status: 406,
      code: 'BAD_INPUT',
      message: `expected an Accept header with application/graphql-response+json, application/json or text/event-stream, got ${shownHeader(accept)}`,
    });
  return {
    type: modern > 0 && modern >= plain ? 'application/graphql-response+json' : 'application/json',
    events: events > Math.max(modern, plain) ? 'all' : events > 0 ? 'streams' : 'none',
  };
}

/** Returns the media type of a refusal that is sent before `Accept` is checked. */
export function answerTypeOf(accept: string | undefined): AnswerType {
  try {
    return chooseAnswerType(accept).type;
  } catch {
    return 'application/json';
  }
}

/** True if the caller prefers HTML to JSON, as a browser does when a user opens the URL. */
export function prefersHtml(accept: string | null): boolean {
  if (accept === null) return false;
  const ranges = accept.split(',', 50).map(parseRange);
  const html = qualityOf('text/html', ranges, false);
  return html > 0 && html >= qualityOf('application/json', ranges, false);
}

interface Range {
  readonly type: string;
  readonly quality: number;
}

/**
 * Returns the quality of a media type in an `Accept` header. `wildcards` decides whether ranges with a `*` count. It is true for
 * `application/json` only, because a client that accepts anything may not be able to read the newer type.
 */
function qualityOf(type: string, ranges: readonly Range[], wildcards: boolean): number {
  const exact = ranges.find((range) => range.type === type);
  if (exact !== undefined) return exact.quality;
  if (!wildcards) return 0;
  const wide = ranges.find((range) => range.type === 'application/*') ?? ranges.find((range) => range.type === '*/*');
  return wide?.quality ?? 0;
}

function parseRange(text: string): Range {
  const { type, parameters } = parseMediaType(text);
  const quality = Number(parameters.get('q') ?? 1);
  const charset = parameters.get('charset') ?? 'utf-8';
  return { type: /^utf-?8$/.test(charset) ? type : '', quality: quality >= 0 && quality <= 1 ? quality : 0 };
}

function parseMediaType(text: string): { readonly type: string; readonly parameters: ReadonlyMap<string, string> } {
  const [type = '', ...rest] = text.toLowerCase().split(';', 10);
  const parameters = rest.map((part) => {
    const [name = '', value = ''] = part.split('=', 2);
    return [name.trim(), value.trim().replace(/^"(.*)"$/, '$1')] as const;
  });
  return { type: type.trim(), parameters: new Map(parameters) };
}

function shownHeader(value: string | undefined): string {
  return value === undefined ? 'none' : JSON.stringify(value.slice(0, 80));
}
