import { type Json, type JsonObject, parseJson } from '../../core/json.ts';
import { CommandFailure, exitCodes } from './command-failure.ts';

/** Where a gateway answers, and what it wants to be shown. */
export interface GatewayAddress {
  /** Of `/graphql`. */
  readonly url: string;
  readonly token?: string;
}

/** What a command asks. */
export interface Asked {
  readonly query: string;
  readonly variables?: JsonObject;
  readonly operationName?: string;
}

export interface GraphError {
  readonly message: string;
  readonly extensions?: { readonly code?: string };
}

/** An execution result, its numbers exact. */
export interface Answer<Data = JsonObject> {
  readonly data?: Data | null;
  readonly errors?: readonly GraphError[];
  readonly extensions?: JsonObject;
}

/** Asks a gateway over HTTP. */
export interface GatewayClient {
  readonly address: GatewayAddress;
  /** The answer as it comes, errors and all. @throws {CommandFailure} if there is none. */
  ask(asked: Asked): Promise<Answer>;
  /** Its data. @throws {CommandFailure} of the first of its errors. */
  query<Data>(query: string, variables: JsonObject): Promise<Data>;
}

/** Makes a client. The signal ends what it waits for. */
export function createGatewayClient(address: GatewayAddress, signal: AbortSignal): GatewayClient {
  const ask = async (asked: Asked) => parseAnswer(await post(address, asked, signal), address);
  return {
    address,
    ask,
    async query<Data>(query: string, variables: JsonObject) {
      return dataOf<Data>(await ask({ query, variables }));
    },
  };
}

/** The data of an answer. @throws {CommandFailure} of the first of its errors. */
export function dataOf<Data>({ data, errors }: Answer): Data {
  const first = errors?.[0];
  if (first !== undefined) throw failureOf(first);
  if (data === undefined || data === null) throw new CommandFailure(exitCodes.failed, 'the gateway answered without data');
  return data as Data;
}

/** What the gateway said of the request, as the end of the command: what it cannot understand is a wrong command line. */
export function failureOf({ message, extensions }: GraphError): CommandFailure {
  return new CommandFailure(extensions?.code === 'BAD_INPUT' ? exitCodes.refused : exitCodes.failed, message);
}

/** The headers that show the token, if there is one. */
export function authorizationOf({ token }: GatewayAddress): { readonly authorization?: string } {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

interface HttpText {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

async function post(address: GatewayAddress, asked: Asked, signal: AbortSignal): Promise<HttpText> {
  try {
    const response = await fetch(address.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json, application/json;q=0.9',
        ...authorizationOf(address),
      },
      body: JSON.stringify(asked),
      signal,
    });
    return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() };
  } catch (error) {
    signal.throwIfAborted();
    throw new CommandFailure(exitCodes.refused, `the gateway at ${address.url} cannot be reached: ${reasonOf(error)}`, { cause: error });
  }
}

function parseAnswer({ status, type, text }: HttpText, { url, token }: GatewayAddress): Answer {
  if (status === 401)
    throw new CommandFailure(
      exitCodes.refused,
      token === undefined
        ? `the gateway at ${url} wants a token: expected --token-file`
        : `the gateway at ${url} does not take the token of the token file`,
    );
  const answer = /json/.test(type) ? parsed(text) : undefined;
  if (answer === undefined)
    throw new CommandFailure(
      exitCodes.refused,
      `expected a gateway at ${url}, got an answer that is not GraphQL (${status} ${type})`.trimEnd(),
    );
  return answer;
}

function parsed(text: string): Answer | undefined {
  try {
    const value = parseJson(text);
    return typeof value === 'object' && value !== null && ('data' in value || 'errors' in value) ? (value as Answer) : undefined;
  } catch {
    return undefined;
  }
}

/** What fetch says is "fetch failed"; why is in its cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return ('code' in cause && typeof cause.code === 'string' ? cause.code : cause.message) || cause.name;
}

/** Arguments by name: of which type of the schema, and with which value. */
export type Arguments = Readonly<Record<string, { readonly type: string; readonly value: Json }>>;

/** One field of `Mutation`. */
export interface Mutation {
  readonly field: string;
  readonly given: Arguments;
  /** What is asked for of its outcome. */
  readonly selection: string;
}

/** Asks for it, and gives its outcome. @throws {CommandFailure} of the first error. */
export async function mutate<Outcome>(gateway: GatewayClient, { field, given, selection }: Mutation): Promise<Outcome> {
  const declared = Object.entries(given).map(([name, { type }]) => `$${name}: ${type}`);
  const passed = Object.keys(given).map((name) => `${name}: $${name}`);
  const query = `mutation (${declared.join(', ')}) { outcome: ${field}(${passed.join(', ')}) { ${selection} } }`;
  const variables = Object.fromEntries(Object.entries(given).map(([name, { value }]) => [name, value]));
  const { outcome } = await gateway.query<{ readonly outcome: Outcome }>(query, variables);
  return outcome;
}
