import { createHash } from 'node:crypto';
import type { FetchAPI, YogaServerOptions } from 'graphql-yoga';
import { acceptedEncoding, type CompressedBytes, compressWithBrotli, matchesEtag } from '../../operations/compressed-bytes.ts';
import type { GraphqlOperation } from '../../operations/operation.ts';
import type { HttpOperation, HttpPlugin } from './http-operation.ts';
import { prefersHtml } from './media-types.ts';

/** An example query that GraphiQL shows in a tab when it opens. */
export interface ExampleQuery {
  readonly title: string;
  readonly query: string;
  readonly variables?: string;
}

/** The content security policy of the page. The page contains its script, style, workers and fonts, and loads nothing from other hosts. */
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

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
};

/** The page, compressed once. */
interface Page {
  readonly etag: string;
  readonly bytes: CompressedBytes;
}

/** Yoga's options for the page, and the plugin that sends it compressed. A browser that has the page already gets 304. */
export interface Graphiql extends Required<Pick<YogaServerOptions<HttpOperation, GraphqlOperation>, 'graphiql' | 'renderGraphiQL'>> {
  readonly plugin: HttpPlugin;
}

/**
 * Creates the options and the plugin. The page is rendered on first use, and its bytes are kept. The import of GraphiQL takes 0.1 s and 50
 * MB, so a gateway that only answers queries does not load it.
 */
export function createGraphiql(examples: readonly ExampleQuery[]): Graphiql {
  let page: Promise<Page> | undefined;
  const options = {
    title: 'Muster',
    defaultTabs: examples.map(({ query, variables }) => ({ query, variables: variables ?? null, headers: null })),
    shouldPersistHeaders: false,
    // No endpoint is given, so GraphiQL sends its requests to the URL of the page.
    method: 'POST',
    // With server-sent events, the headers that a user types, such as a token, apply to subscriptions too. WebSocket would leave them out.
    subscriptionsProtocol: 'GRAPHQL_SSE',
  } as const;
  const pageFor = ({ headers }: Request, { Response }: FetchAPI, { etag, bytes }: Page) => {
    const isKnown = matchesEtag(headers.get('if-none-match'), etag);
    const { body, headers: encoding } = acceptedEncoding(headers.get('accept-encoding'), bytes);
    const init = { status: isKnown ? 304 : 200, headers: { ...pageHeaders, ...encoding, etag } };
    return new Response(isKnown ? null : (body as Uint8Array<ArrayBuffer>), init);
  };
  return {
    graphiql: (request) => (prefersHtml(request.headers.get('accept')) ? options : false),
    renderGraphiQL: async () => {
      page ??= renderPage(options);
      return (await page).bytes.plain as Uint8Array<ArrayBuffer>;
    },
    plugin: {
      // This hook sees every response. To stay cheap, it makes a promise only for the page.
      onResponse: ({ request, response, setResponse, fetchAPI }) =>
        response.headers.get('content-type') === 'text/html'
          ? page?.then((made) => pageFor(request, fetchAPI, made)).then(setResponse)
          : undefined,
    },
  };
}

async function renderPage(options: object): Promise<Page> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const html = Buffer.from(renderGraphiQL(options));
  return { etag: `"${createHash('sha256').update(html).digest('base64url')}"`, bytes: await compressWithBrotli(html) };
}
