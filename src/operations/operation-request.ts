import { MusterError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject, parseJsonExactly } from '../core/json.ts';
import { RequestRefusal } from './refusal.ts';

/** One operation as it was sent, its shape checked. */
export interface OperationRequest {
  readonly query: string;
  readonly operationName?: string;
  readonly variables?: JsonObject;
  readonly extensions?: JsonObject;
}

/** Levels of arrays and objects in a body: deeper ones serve only to overflow stacks. */
const maxLevels = 200;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The operation in a body: strict UTF-8, JSON of one object, `query` text, `variables` and `extensions` objects or null, no batch.
 * Integers beyond 2⁵³−1 come through exactly.
 *
 * @throws {RequestRefusal} 400 with what was expected.
 */
export function parseOperationBody(body: Uint8Array): OperationRequest {
  const text = decoded(body);
  const value = parseJsonText(text);
  if (!isJsonObject(value))
    throw badRequest(`expected one JSON object, got ${Array.isArray(value) ? 'an array: batches are not served' : 'another value'}`);
  return operationRequestIn(value);
}

/**
 * The operation in an object, however it came: `query` text, `variables` and `extensions` objects or null.
 *
 * @throws {RequestRefusal} 400 with what was expected.
 */
export function operationRequestIn({ query, operationName, variables, extensions }: JsonObject): OperationRequest {
  // Clients of automatic persisted queries send the text from now on.
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
 * JSON as operations may hold it: at most 200 levels, whole texts without NUL. Integers beyond 2⁵³−1 come through exactly.
 *
 * @param name What the text is called in messages.
 * @throws {RequestRefusal} 400 with what was expected.
 */
export function parseJsonText(text: string, name = 'the body'): Json {
  if (opensMoreThan(text, maxLevels)) demandLevels(text);
  let value: Json;
  try {
    // The exact parser is five times slower: only a body that may need it pays.
    value = /\d{16}/.test(text) ? parseJsonExactly(text) : (JSON.parse(text) as Json);
  } catch {
    throw badRequest(`${name} is not JSON`);
  }
  // Escapes are the only way by which valid UTF-8 yields them.
  if (/\\u(?:d[89a-f]|0000)/i.test(text)) demandWholeText(value);
  return value;
}

function opensMoreThan(text: string, most: number): boolean {
  let opened = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code === 0x5b || code === 0x7b) && ++opened > most) return true;
  }
  return false;
}

/** Levels outside of strings; what is not JSON is told by the parser. */
function demandLevels(text: string): void {
  let level = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) level++;
    else if (code === 0x5d || code === 0x7d) level--;
    if (level > maxLevels) throw badRequest(`expected at most ${maxLevels} levels of arrays and objects`);
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
  return at;
}

/** No lone surrogate and no NUL, in keys or values: neither can be stored, and neither may turn into something else on the way. */
function demandWholeText(value: Json): void {
  if (typeof value === 'string') {
    if (!value.isWellFormed() || value.includes('\0')) throw badRequest('a text in the body holds half a character or NUL');
  } else if (Array.isArray(value)) {
    for (const part of value as readonly Json[]) demandWholeText(part);
  } else if (isJsonObject(value)) {
    for (const [key, part] of Object.entries(value)) {
      demandWholeText(key);
      if (part !== undefined) demandWholeText(part);
    }
  }
}

function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

export function badRequest(message: string): RequestRefusal {
  return new RequestRefusal({ status: 400, code: 'BAD_INPUT', message });
}
