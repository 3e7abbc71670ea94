import type { IncomingHttpHeaders } from 'node:http';
import type { ServePlugin } from './operations.ts';
import { Refusal } from './refusal.ts';

/** The media types of GraphQL over HTTP for one answer. */
export type AnswerType = 'application/json' | 'application/graphql-response+json';

/** Chooses the media type of the answer, and refuses what cannot be read or answered. Yoga knows neither quality values nor charsets. */
export function useNegotiation(): ServePlugin {
  return {
    onRequestParse: ({ serverContext: operation }) => {
      const { headers, method } = operation.req;
      if (method === 'POST') demandJson(headers);
      else demandOwnSite(headers);
      operation.accepted = chooseAnswer(headers.accept);
      if (operation.accepted.events === 'all') operation.transport = 'sse';
    },
  };
}

/** A page of another site can make a browser send a GET without Origin, by an image for example. @throws {Refusal} 403 for that. */
function demandOwnSite({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): void {
  if (origin === undefined && (site === 'cross-site' || site === 'same-site'))
    throw new Refusal({ status: 403, code: 'FORBIDDEN', message: 'expected no request from a page of another site' });
}

/**
 * Demands a body that a web page cannot send across origins without asking first: JSON, in UTF-8, not compressed.
 *
 * @throws {Refusal} 415 for anything else.
 */
function demandJson(headers: IncomingHttpHeaders): void {
  const { type, parameters } = parseMediaType(headers['content-type'] ?? '');
  const charset = parameters.get('charset') ?? 'utf-8';
  if (type !== 'application/json' || !/^utf-?8$/.test(charset))
    throw new Refusal({
      status: 415,
      code: 'BAD_INPUT',
      message: `expected a body of application/json in UTF-8, got ${shownHeader(headers['content-type'])}`,
    });
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new Refusal({ status: 415, code: 'BAD_INPUT', message: `expected a body that is not compressed, got ${shownHeader(encoding)}` });
}

/** How a caller may be answered. */
export interface AcceptedAnswer {
  /** For one answer, and for refusals whatever else is accepted. */
  readonly type: AnswerType;
  /** `streams`: server-sent events for subscriptions only. `all`: for everything, as the caller likes them better than one answer. */
  readonly events: 'none' | 'streams' | 'all';
}

/**
 * The answer's media type: the caller's best, the newer one of two equals; `application/json` for who leaves it open. Server-sent events only for
 * who names them.
 *
 * @throws {Refusal} 406 if nothing is accepted that can be given.
 */
function chooseAnswer(accept: string | undefined): AcceptedAnswer {
  if (accept === undefined || accept === '*/*') return { type: 'application/json', events: 'none' };
  const ranges = accept.split(',', 50).map(parseRange);
  const modern = qualityOf('application/graphql-response+json', ranges, false);
  const plain = qualityOf('application/json', ranges, true);
  const events = qualityOf('text/event-stream', ranges, false);
  if (modern === 0 && plain === 0 && events === 0)
    throw new Refusal({
      status: 406,
      code: 'BAD_INPUT',
      message: `expected to be allowed to answer in application/graphql-response+json, application/json or text/event-stream, got ${shownHeader(accept)}`,
    });
  return {
    type: modern > 0 && modern >= plain ? 'application/graphql-response+json' : 'application/json',
    events: events > Math.max(modern, plain) ? 'all' : events > 0 ? 'streams' : 'none',
  };
}

/** True if the caller would rather have a page than data: a browser that navigates. */
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

/** Wildcards count only for the type that stands for "any": else `*` `/` `*` would mean the newer one, which old clients cannot read. */
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
