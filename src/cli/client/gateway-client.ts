import { type Json, type JsonObject, parseJson } from '../../core/json.ts';
import { CommandFailure, exitCodes } from './command-failure.ts';

/** The address of a gateway, and the token that it requires. */
export interface GatewayAddress {
  /** URL of `/graphql`. */
  readonly url: string;
  /** Returns the token for the next request or connection. Default: none is sent. */
  readonly token?: () => Promise<string>;
}

/** The body of a GraphQL request. */
export interface GatewayRequest {
  readonly query: string;
  readonly variables?: JsonObject;
  readonly operationName?: string;
}

export interface GatewayError {
  readonly message: string;
  readonly extensions?: { readonly code?: string };
}

/** A GraphQL execution result. Integers beyond 2⁵³−1 keep all their digits. */
export interface GatewayAnswer<Data = JsonObject> {
  readonly data?: Data | null;
  readonly errors?: readonly GatewayError[];
  readonly extensions?: JsonObject;
}

/** Sends GraphQL requests to a gateway over HTTP. */
export interface GatewayClient {
  readonly address: GatewayAddress;
  /** Returns the whole answer, errors included. @throws {CommandFailure} if there is no answer. */
  send(request: GatewayRequest): Promise<GatewayAnswer>;
  /** Returns the data of the answer. @throws {CommandFailure} for the first error of the answer. */
  query<Data>(query: string, variables: JsonObject): Promise<Data>;
}

/**
 * Creates a client. The signal ends pending requests.
 *
 * @param before The client returns no answer until this promise is fulfilled, but sends requests at once. Default: it waits for nothing.
 */
export function createGatewayClient(address: GatewayAddress, signal: AbortSignal, before?: Promise<void>): GatewayClient {
  const send = async (request: GatewayRequest) => {
    const answer = parseAnswer(await post(address, request, signal), address);
    await before;
    return answer;
  };
  return {
    address,
    send,
    async query<Data>(query: string, variables: JsonObject) {
      return dataOf<Data>(await send({ query, variables }));
    },
  };
}

/**
 * Sends a request at once, because the command will probably need its answer. Returns a client whose first `send` of the same request returns this
 * answer, or this failure. All other calls send a request as usual. `query` always sends one.
 */
export function withEarlyRequest(gateway: GatewayClient, request: GatewayRequest): GatewayClient {
  const text = JSON.stringify(request);
  let early: Promise<GatewayAnswer> | undefined = gateway.send(request);
  early.catch(() => undefined);
  return {
    ...gateway,
    send(next) {
      const answer = JSON.stringify(next) === text ? early : undefined;
      if (answer !== undefined) early = undefined;
      return answer ?? gateway.send(next);
    },
  };
}

/** Returns the data of an answer. @throws {CommandFailure} for the first error of the answer. */
export function dataOf<Data>({ data, errors }: GatewayAnswer): Data {
  const first = errors?.[0];
  if (first !== undefined) throw failureOfGatewayError(first);
  if (data === undefined || data === null) throw new CommandFailure(exitCodes.failed, 'the gateway answered without data');
  return data as Data;
}

/** Returns the failure of a command for an error of the gateway. The exit code for `BAD_INPUT` is 2, because the command line is wrong. */
export function failureOfGatewayError({ message, extensions }: GatewayError): CommandFailure {
  return new CommandFailure(extensions?.code === 'BAD_INPUT' ? exitCodes.refused : exitCodes.failed, message);
}

/** Returns the HTTP header with the token. Empty if the address has no token. */
export async function authorizationHeaders({ token }: GatewayAddress): Promise<{ readonly authorization?: string }> {
  return token === undefined ? {} : { authorization: `Bearer ${await token()}` };
}

interface HttpText {
  readonly status: number;
  readonly type: string;
  /** The header `location`: where a redirect leads. */
  readonly location: string | undefined;
  readonly text: string;
}

/** Milliseconds without a byte after which a request fails. */
const silentMs = 300_000;

async function post(address: GatewayAddress, body: GatewayRequest, signal: AbortSignal): Promise<HttpText> {
  const authorization = await authorizationHeaders(address);
  const isPlain = address.url.startsWith('http:');
  // `fetch`, or an `import` of these modules, would load undici: 40 ms at the start of each command.
  const { request } = process.getBuiltinModule(isPlain ? 'node:http' : 'node:https');
  const headers = {
    'content-type': 'application/json',
    accept: 'application/graphql-response+json, application/json;q=0.9',
    ...authorization,
  };
  const answered = Promise.withResolvers<HttpText>();
  const sent = request(address.url, { method: 'POST', headers, signal, timeout: silentMs }, (response) => {
    let text = '';
    response
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        text += chunk;
      })
      .on('end', () => {
        const { 'content-type': type = '', location } = response.headers;
        answered.resolve({ status: response.statusCode ?? 0, type, location, text });
      })
      .on('error', answered.reject);
  });
  sent
    .on('timeout', () => sent.destroy(new Error(`no answer within ${silentMs / 1000} s`)))
    .on('error', answered.reject)
    .end(JSON.stringify(body));
  try {
    return await answered.promise;
  } catch (error) {
    signal.throwIfAborted();
    throw new CommandFailure(exitCodes.refused, `the gateway at ${address.url} cannot be reached: ${reasonOf(error)}`, { cause: error });
  }
}

function parseAnswer({ status, type, location, text }: HttpText, { url, token }: GatewayAddress): GatewayAnswer {
  if (status >= 300 && status < 400) throw redirectFailure({ status, location }, url);
  if (status === 401)
    throw new CommandFailure(
      exitCodes.refused,
      token === undefined
        ? `the gateway at ${url} requires a token: expected --token-file or MUSTER_TOKEN`
        : `the gateway at ${url} refused the token: it may have expired, or be of another issuer or audience`,
    );
  const answer = /json/.test(type) ? parsed(text) : undefined;
  if (answer === undefined)
    throw new CommandFailure(
      exitCodes.refused,
      `expected a gateway at ${url}, got an answer that is not GraphQL (${status} ${type})`.trimEnd(),
    );
  return answer;
}

/** The failure for a redirect. It is not followed, because its target, such as a login page, would get the token and the request. */
function redirectFailure({ status, location }: Pick<HttpText, 'status' | 'location'>, url: string): CommandFailure {
  const target = location === undefined ? undefined : URL.parse(location, url);
  // The query of a login page may hold secrets, and does not help to find the gateway.
  const where = target === undefined || target === null ? 'nowhere' : `${target.protocol}//${target.host}${target.pathname}`;
  const remedy = 'Redirects are not followed: give the address of the gateway itself with --gateway or MUSTER_GATEWAY';
  return new CommandFailure(exitCodes.refused, `expected a gateway at ${url}, got a redirect to ${where} (HTTP ${status}). ${remedy}`);
}

function parsed(text: string): GatewayAnswer | undefined {
  try {
    const value = parseJson(text);
    return typeof value === 'object' && value !== null && ('data' in value || 'errors' in value) ? (value as GatewayAnswer) : undefined;
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ('code' in error && typeof error.code === 'string' ? error.code : error.message) || error.name;
}

/** Arguments of a mutation by name: the type in the schema, and the value. */
export type MutationInputs = Readonly<Record<string, { readonly type: string; readonly value: Json }>>;

/** A call of one field of the type `Mutation`. */
export interface Mutation {
  readonly field: string;
  readonly inputs: MutationInputs;
  /** The GraphQL selection on the result. */
  readonly selection: string;
}

/** Sends a mutation and returns its result. @throws {CommandFailure} for the first error of the answer. */
export async function mutate<Outcome>(gateway: GatewayClient, { field, inputs, selection }: Mutation): Promise<Outcome> {
  const declared = Object.entries(inputs).map(([name, { type }]) => `$${name}: ${type}`);
  const passed = Object.keys(inputs).map((name) => `${name}: $${name}`);
  const query = `mutation (${declared.join(', ')}) { outcome: ${field}(${passed.join(', ')}) { ${selection} } }`;
  const variables = Object.fromEntries(Object.entries(inputs).map(([name, { value }]) => [name, value]));
  const { outcome } = await gateway.query<{ readonly outcome: Outcome }>(query, variables);
  return outcome;
}
