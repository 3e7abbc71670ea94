import http from 'node:http';
import { buildSchema, type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { defaultLimits, type Limits } from '../../../src/config/defaults.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { listen } from '../../../src/serve/http/listen.ts';
import { type ServeOptions, serve } from '../../../src/serve/serve.ts';

/** Options of the edge that a test may change. */
export interface ServingChanges extends Partial<Omit<ServeOptions, 'config'>> {
  readonly config?: Partial<Omit<ServeOptions['config'], 'limits'>> & { readonly limits?: Partial<Limits> };
  /** Returns the schema. Each operation calls it. */
  readonly schema?: () => GraphQLSchema;
}

/** Makes the served schema of a schema without resolvers. */
export function servedOf(schema: GraphQLSchema, hash = 'hash-1') {
  return { schema, hash, sdl: () => printSchema(lexicographicSortSchema(schema)) };
}

/** Starts the edge on its own port, over a schema of the test. */
export async function startServing({ config, schema = () => helloSchema, ...changes }: ServingChanges = {}) {
  const serving = serve({
    config: { host: '127.0.0.1', allowOrigins: [], logLevel: 'debug', ...config, limits: { ...defaultLimits, ...config?.limits } },
    listening: await listen({ host: config?.host ?? '127.0.0.1', port: 0, limits: { ...defaultLimits, ...config?.limits } }),
    served: () => servedOf(schema()),
    contextOf: (scope) => scope,
    caller: { key: 'local' },
    health: { isReady: () => true, checks: async () => [] },
    observed: { clusters: () => [], upstream: () => [], anomalies: () => [] },
    examples: [{ title: 'hello', query: '{ hello }' }],
    clock: systemClock,
    log: silentLog,
    ...changes,
  });
  const origin = `http://127.0.0.1:${serving.port}`;
  const url = `${origin}/graphql`;
  return {
    serving,
    origin,
    url,
    post: (body: NonNullable<RequestInit['body']>, headers: Record<string, string> = {}, signal?: AbortSignal) =>
      fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
        ...(signal === undefined ? {} : { signal }),
      }),
    ask: async (query: string, variables?: object) => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      });
      return (await answer.json()) as AskedAnswer;
    },
    [Symbol.asyncDispose]: () => serving[Symbol.asyncDispose](),
  };
}

interface AskedAnswer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: unknown;
    readonly locations?: unknown;
    readonly extensions: { readonly code: string; readonly requestId: string };
  }[];
  readonly extensions?: Record<string, unknown>;
}

/** Sends a request with any header and any body. `fetch` does not allow that. */
export function rawRequest(origin: string, options: http.RequestOptions & { readonly body?: string | Uint8Array }) {
  const { body, ...rest } = options;
  return new Promise<{ readonly status: number; readonly headers: http.IncomingHttpHeaders; readonly text: string }>((resolve, reject) => {
    const request = http.request(origin, rest, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    request.once('error', reject);
    request.end(body);
  });
}

const helloSchema = buildSchema('type Query { hello: String echo(text: String, number: Int): String }');
