import { type Json, type JsonObject, parseJson } from '../../core/json.ts';
import { CommandFailure, exitCodes } from './command-failure.ts';

/** Where a gateway answers, and what it wants to be shown. */
export interface GatewayAddress {
  /** Of `/graphql`. */
  readonly url: string;
  readonly token?: string;
}

/** What a command asks. */
export interface GatewayRequest {
  readonly query: string;
  readonly variables?: JsonObject;
  readonly operationName?: string;
}

export interface GatewayError {
  readonly message: string;
  readonly extensions?: { readonly code?: string };
}

/** An execution result, its numbers exact. */
export interface GatewayAnswer<Data = JsonObject> {
  readonly data?: Data | null;
  readonly errors?: readonly GatewayError[];
  readonly extensions?: JsonObject;
}

/** Asks a gateway over HTTP. */
export interface GatewayClient {
  readonly address: GatewayAddress;
  /** The answer as it comes, errors and all. @throws {CommandFailure} if there is none. */
  send(asked: GatewayRequest): Promise<GatewayAnswer>;
  /** Its data. @throws {CommandFailure} of the first of its errors. */
  query<Data>(query: string, variables: JsonObject): Promise<Data>;
}

/** Makes a client. The signal ends what it waits for. */
export function createGatewayClient(address: GatewayAddress, signal: AbortSignal): GatewayClient {
  const ask = async (asked: GatewayRequest) => parseAnswer(await post(address, asked, signal), address);
  return {
    address,
    send: ask,
    async query<Data>(query: string, variables: JsonObject) {
      return dataOf<Data>(await ask({ query, variables }));
    },
  };
}

/** The data of an answer. @throws {CommandFailure} of the first of its errors. */
export function dataOf<Data>({ data, errors }: GatewayAnswer): Data {
  const first = errors?.[0];
  if (first !== undefined) throw failureOfGatewayError(first);
  if (data === undefined || data === null) throw new CommandFailure(exitCodes.failed, 'the gateway answered without data');
  return data as Data;
}

/** What the gateway said of the request, as the end of the command: what it cannot understand is a wrong command line. */
export function failureOfGatewayError({ message, extensions }: GatewayError): CommandFailure {
  return new CommandFailure(extensions?.code === 'BAD_INPUT' ? exitCodes.refused : exitCodes.failed, message);
}

/** The headers that show the token, if there is one. */
export function authorizationHeaders({ token }: GatewayAddress): { readonly authorization?: string } {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

interface HttpText {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

async function post(address: GatewayAddress, asked: GatewayRequest, signal: AbortSignal): Promise<HttpText> {
  try {
    const response = await fetch(address.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json, application/json;q=0.9',
        ...authorizationHeaders(address),
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

function parseAnswer({ status, type, text }: HttpText, { url, token }: GatewayAddress): GatewayAnswer {
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

function parsed(text: string): GatewayAnswer | undefined {
  try {
    const value = parseJson(text);
    return typeof value === 'object' && value !== null && ('data' in value || 'errors' in value) ? (value as GatewayAnswer) : undefined;
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
export type MutationInputs = Readonly<Record<string, { readonly type: string; readonly value: Json }>>;

/** One field of `Mutation`. */
export interface Mutation {
  readonly field: string;
  readonly inputs: MutationInputs;
  /** What is asked for of its outcome. */
  readonly selection: string;
}

/** Asks for it, and gives its outcome. @throws {CommandFailure} of the first error. */
export async function mutate<Outcome>(gateway: GatewayClient, { field, inputs, selection }: Mutation): Promise<Outcome> {
  const declared = Object.entries(inputs).map(([name, { type }]) => `$${name}: ${type}`);
  const passed = Object.keys(inputs).map((name) => `${name}: $${name}`);
  const query = `mutation (${declared.join(', ')}) { outcome: ${field}(${passed.join(', ')}) { ${selection} } }`;
  const variables = Object.fromEntries(Object.entries(inputs).map(([name, { value }]) => [name, value]));
  const { outcome } = await gateway.query<{ readonly outcome: Outcome }>(query, variables);
  return outcome;
}
