import { parseJson } from '../../core/json.ts';
import { reportAnswer, reportSilence } from './connection.ts';
import { refuseToken, token } from './session.ts';

/** An error in an answer of the gateway. */
export interface GraphqlError {
  readonly message: string;
  readonly extensions?: { readonly code?: string };
}

interface GraphqlAnswer<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly GraphqlError[];
}

/** A request that the gateway refused, or that did not reach it. */
export class RequestFailure extends Error {
  override readonly name = 'RequestFailure';
  /** The code of the gateway, such as `BAD_INPUT`. `AWAY`: the gateway did not answer. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Milliseconds to wait for an answer. The gateway itself ends an operation after 60 s. */
const maxWaitMs = 70_000;

/**
 * Sends a query or a mutation, and returns its data.
 *
 * @throws {RequestFailure} if there is no data, or every root field is null because of an error. Other partial data is returned, without its
 * errors.
 */
export async function request<Data extends object>(query: string, variables: object = {}, signal?: AbortSignal): Promise<Data> {
  const sent = token.value;
  const { data, errors } = await post<Data>({ query, variables }, sent, signal);
  const isEmpty = data === undefined || data === null || (errors !== undefined && Object.values(data).every((value) => value === null));
  if (!isEmpty) return data;
  throw failureOf(errors?.[0], sent);
}

/**
 * Converts an error of the gateway. If the error is about credentials, the page then asks for a token.
 *
 * @param sent The token of the request. Undefined if it had none.
 */
export function failureOf(error: GraphqlError | undefined, sent: string | undefined): RequestFailure {
  const code = error?.extensions?.code ?? 'UNKNOWN';
  if (code === 'UNAUTHENTICATED') refuseToken(sent);
  return new RequestFailure(code, error?.message ?? 'the gateway sent neither data nor an error');
}

async function post<Data>(body: object, sent: string | undefined, signal: AbortSignal | undefined): Promise<GraphqlAnswer<Data>> {
  const late = AbortSignal.timeout(maxWaitMs);
  try {
    const response = await fetch('/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(sent === undefined ? {} : { authorization: `Bearer ${sent}` }),
      },
      body: JSON.stringify(body),
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
    });
    const answer = parseJson(await response.text()) as unknown as GraphqlAnswer<Data>;
    reportAnswer();
    return answer;
  } catch (error) {
    if (signal?.aborted === true) throw error;
    reportSilence();
    throw new RequestFailure('AWAY', 'the gateway does not answer');
  }
}
