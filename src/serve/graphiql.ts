import type { HttpAnswer } from './http-answer.ts';
import { type ReadyBytes, withGzip } from './introspection.ts';

/** A query that GraphiQL opens with. */
export interface ExampleQuery {
  readonly title: string;
  readonly query: string;
  readonly variables?: string;
}

/** The page needs its own inline script and style, workers and fonts it carries along, and nothing from elsewhere. */
const policy = [
  "default-src 'none'",
  "script-src 'unsafe-inline' blob:",
  'worker-src blob:',
  "style-src 'unsafe-inline'",
  'font-src data:',
  'img-src data: blob:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of the page. */
export const graphiqlHeaders: HttpAnswer['headers'] = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
};

/** Makes the page on first use, then keeps its bytes: its import takes 0.1 s and 50 MB, which who only queries is spared. */
export function createGraphiql(examples: readonly ExampleQuery[]): () => Promise<ReadyBytes> {
  let page: Promise<ReadyBytes> | undefined;
  return () => {
    page ??= renderPage(examples);
    return page;
  };
}

async function renderPage(examples: readonly ExampleQuery[]): Promise<ReadyBytes> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const html = renderGraphiQL({
    title: 'Muster',
    defaultTabs: examples.map(({ query, variables }) => ({ query, variables: variables ?? null, headers: null })),
    shouldPersistHeaders: false,
    // Without an address of its own it asks where the page came from.
    method: 'POST',
    // Over server-sent events the headers that somebody types, a token say, hold for subscriptions too. Over WebSocket they would be left out.
    subscriptionsProtocol: 'GRAPHQL_SSE',
  });
  return withGzip(Buffer.from(html));
}
