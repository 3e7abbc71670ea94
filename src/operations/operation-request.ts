import { MusterError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject, parseJsonExactly } from '../core/json.ts';
import type { Steps } from '../core/scheduling/operation-scheduler.ts';
import { endOfString, parseJsonInSteps } from './json-steps.ts';
import { RequestRefusal } from './refusal.ts';

/** One operation as the client sent it, with the right shape. */
export interface OperationRequest {
  readonly query: string;
  readonly operationName?: string;
  readonly variables?: JsonObject;
  readonly extensions?: JsonObject;
}

/** Maximum depth of arrays and objects in a body. Deeper bodies only serve to overflow stacks. */
const maxLevels = 200;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a body: strict UTF-8, one JSON object with the text `query`, and `variables` and `extensions` as objects or null. Batches are
 * refused. Integers beyond 2⁵³−1 stay exact.
 *
 * @throws {RequestRefusal} 400 with the expected form.
 */
export function parseOperationBody(body: Uint8Array): OperationRequest {
  return operationIn(parseJsonText(decoded(body)));
}

/** Characters of JSON that one step parses. With many keys they take 1 ms, and 6 ms with long digits. */
const pieceLength = 16 << 10;

/**
 * Parses a body in steps of about a millisecond, with the result of `parseOperationBody`.
 *
 * @throws {RequestRefusal} 400 with the expected form.
 */
export function* parseOperationBodyInSteps(body: Uint8Array): Steps<OperationRequest> {
  const text = decoded(body);
  if (opensMoreThan(text, maxLevels)) checkLevels(text);
  yield;
  // The text was valid UTF-8, so only escapes can make lone surrogates and NUL.
  const onPiece = mayHaveBadCharacters(text) ? checkCharacters : () => undefined;
  yield;
  try {
    return operationIn(yield* parseJsonInSteps(text, { pieceLength, onPiece }));
  } catch (error) {
    throw error instanceof SyntaxError ? badRequest('the body is not JSON') : error;
  }
}

function operationIn(value: Json): OperationRequest {
  if (!isJsonObject(value))
    throw badRequest(`expected one JSON object, got ${Array.isArray(value) ? 'an array: batches are not served' : 'another value'}`);
  return operationRequestIn(value);
}

/**
 * Checks the shape of an operation: `query` is text, `variables` and `extensions` are objects or null.
 *
 * @throws {RequestRefusal} 400 with the expected form.
 */
export function operationRequestIn({ query, operationName, variables, extensions }: JsonObject): OperationRequest {
  // A client of automatic persisted queries answers this error by sending the text of the query.
  if (query === undefined && isJsonObject(extensions) && extensions.persistedQuery !== undefined)
    throw new MusterError('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
  if (typeof query !== 'string') throw badRequest(query === undefined ? 'query is missing' : 'query: expected text');
  if (!isAbsent(operationName) && typeof operationName !== 'string') throw badRequest('operationName: expected text or null');
  if (!isAbsent(variables) && !isJsonObject(variables)) throw badRequest('variables: expected an object or null');
  if (!isAbsent(extensions) && !isJsonObject(extensions)) throw badRequest('extensions: expected an object or null');
  return {
    query,
    ...(isAbsent(operationName) ? {} : { operationName }),
    ...(isAbsent(variables) ? {} : { variables }),
    ...(isAbsent(extensions) ? {} : { extensions }),
  };
}

function decoded(body: Uint8Array): string {
  try {
    return utf8.decode(body);
  } catch {
    throw badRequest('the body is not valid UTF-8');
  }
}

/**
 * Parses JSON with at most 200 levels, without lone surrogates and NUL. Integers beyond 2⁵³−1 stay exact.
 *
 * @param name Name of the text in messages. Default: `the body`.
 * @throws {RequestRefusal} 400 with the expected form.
 */
export function parseJsonText(text: string, name = 'the body'): Json {
  if (opensMoreThan(text, maxLevels)) checkLevels(text);
  let value: Json;
  try {
    // The exact parser is five times slower, so only texts with long digits use it.
    value = /\d{16}/.test(text) ? parseJsonExactly(text) : (JSON.parse(text) as Json);
  } catch {
    throw badRequest(`${name} is not JSON`);
  }
  // The text was valid UTF-8, so only escapes can make lone surrogates and NUL.
  if (mayHaveBadCharacters(text)) checkCharacters(value);
  return value;
}

function mayHaveBadCharacters(text: string): boolean {
  return /\\u(?:d[89a-f]|0000)/i.test(text);
}

function opensMoreThan(text: string, max: number): boolean {
  let opened = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code === 0x5b || code === 0x7b) && ++opened > max) return true;
  }
  return false;
}

/** Counts levels outside of strings. Invalid JSON is left to the parser. */
function checkLevels(text: string): void {
  let level = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) level++;
    else if (code === 0x5d || code === 0x7d) level--;
    if (level > maxLevels) throw badRequest(`expected at most ${maxLevels} levels of arrays and objects`);
  }
}

/** Refuses lone surrogates and NUL, in keys and values. Neither can be stored, and neither may be changed on the way. */
function checkCharacters(value: Json): void {
  if (typeof value === 'string') {
    if (!value.isWellFormed() || value.includes('\0')) throw badRequest('a text in the body has a lone surrogate or NUL');
  } else if (Array.isArray(value)) {
    for (const part of value as readonly Json[]) checkCharacters(part);
  } else if (isJsonObject(value)) {
    for (const [key, part] of Object.entries(value)) {
      checkCharacters(key);
      if (part !== undefined) checkCharacters(part);
    }
  }
}

function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

export function badRequest(message: string): RequestRefusal {
  return new RequestRefusal({ status: 400, code: 'BAD_INPUT', message });
}
