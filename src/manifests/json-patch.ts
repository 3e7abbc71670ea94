import jsonPatch, { type Operation } from 'fast-json-patch';
import { equalJson } from '../core/json/json-values.ts';
import { isJsonObject, isRawNumber, type Json } from '../core/json.ts';
import { type JsonPatchOperation, maxPatchOperations } from './json-patch-definition.ts';
import { listIndexOf, parsePointer, valueAtKeys } from './json-pointer.ts';

/** The result of a patch. `index` is the index of the failed operation. Messages contain pointers, never values. */
export type JsonPatchResult =
  | { readonly result: 'patched'; readonly document: Json }
  | { readonly result: 'failed'; readonly index: number; readonly pointer: string; readonly message: string };

/** The maximum size of all copied values of one patch, in characters of JSON. It is the limit of the API server for one request. */
const maxCopiedCharacters = 3 * 1024 * 1024;

/**
 * Returns the operations to apply instead of the given one, for systems whose patches differ from RFC 6902. Empty: there is nothing to do.
 * `document` is the result of the operations before, and must not be changed.
 */
export type PatchAdapter = (operation: JsonPatchOperation, document: Json) => readonly JsonPatchOperation[];

/**
 * Applies the operations of a JSON patch (RFC 6902): all of them, or none if one fails. Does not change its arguments, and the result
 * shares nothing with them. Integers beyond 2⁵³ stay exact. An omitted value is null.
 *
 * Refuses pointers through `__proto__`, or through `constructor` to `prototype`, which the standard does not forbid. Allows at most
 * `maxPatchOperations` operations and `maxCopiedCharacters` of copied values.
 */
export function applyJsonPatch(document: Json, operations: readonly JsonPatchOperation[], adapt?: PatchAdapter): JsonPatchResult {
  if (operations.length > maxPatchOperations) {
    const message = `expected at most ${maxPatchOperations} operations, got ${operations.length}`;
    return { result: 'failed', index: maxPatchOperations, pointer: '', message };
  }
  const patching: PatchState = { document: mutableCopy(document), copied: 0 };
  for (const [index, written] of operations.entries()) {
    for (const operation of adapt?.(written, patching.document) ?? [written]) {
      const problem = applyOne(patching, operation);
      if (problem !== undefined) return { result: 'failed', index, pointer: problem.pointer, message: problem.message };
    }
  }
  return { result: 'patched', document: patching.document };
}

interface PatchState {
  document: Json;
  /** The number of characters of JSON that were copied so far. */
  copied: number;
}

interface PatchProblem {
  readonly pointer: string;
  readonly message: string;
}

/**
 * Applies one operation, or returns the problem that prevents it. This module checks the conditions itself, and the library only changes
 * the document. The checks of the library follow prototypes, and they copy the whole document for each `from`.
 */
function applyOne(patching: PatchState, operation: JsonPatchOperation): PatchProblem | undefined {
  const { op, path } = operation;
  const keys = parsePointer(path);
  if (keys === undefined) return { pointer: path, message: `expected a JSON pointer (RFC 6901), got ${JSON.stringify(path)}` };
  if (isPrototypePath(keys)) return { pointer: path, message: `no operation may go through ${JSON.stringify(path)}` };
  switch (op) {
    case 'add':
      return add(patching, { path, keys }, mutableCopy(operandOf(operation)));
    case 'remove':
      return checkExists(patching, { path, keys }, op) ?? write(patching, { op, path });
    case 'replace':
      return checkExists(patching, { path, keys }, op) ?? write(patching, { op, path, value: mutableCopy(operandOf(operation)) });
    case 'test':
      return checkExists(patching, { path, keys }, op) ?? test(patching, { path, keys }, operandOf(operation));
    case 'copy':
    case 'move':
      return transfer(patching, { path, keys }, operation);
    default:
      op satisfies never;
      return { pointer: path, message: `expected an operation of RFC 6902 at ${JSON.stringify(path)}` };
  }
}

interface PatchTarget {
  readonly path: string;
  readonly keys: readonly string[];
}

function add(patching: PatchState, { path, keys }: PatchTarget, value: Json): PatchProblem | undefined {
  return addable(patching.document, keys) ? write(patching, { op: 'add', path, value }) : missing(path, 'add');
}

/** True if a value can be added: the parent exists and, if it is a list, the index is at most its length. */
function addable(document: Json, keys: readonly string[]): boolean {
  const last = keys.at(-1);
  if (last === undefined) return true;
  const parent = valueAtKeys(document, keys.slice(0, -1));
  if (!Array.isArray(parent)) return isJsonObject(parent);
  const index = last === '-' ? parent.length : listIndexOf(last);
  return index !== undefined && index <= parent.length;
}

function checkExists({ document }: PatchState, { path, keys }: PatchTarget, op: string): PatchProblem | undefined {
  return valueAtKeys(document, keys) === undefined ? missing(path, op) : undefined;
}

function test({ document }: PatchState, { path, keys }: PatchTarget, value: Json): PatchProblem | undefined {
  if (equalJson(valueAtKeys(document, keys), value)) return undefined;
  return { pointer: path, message: `the test of ${JSON.stringify(path)} failed` };
}

/** Applies a copy or a move, or returns the problem that prevents it. RFC 6902 defines a move as a removal and an addition. */
function transfer(patching: PatchState, to: PatchTarget, operation: JsonPatchOperation): PatchProblem | undefined {
  const { op, from } = operation;
  const keys = typeof from === 'string' ? parsePointer(from) : undefined;
  if (from === undefined || keys === undefined || isPrototypePath(keys)) {
    return {
      pointer: from ?? to.path,
      message: `expected a JSON pointer (RFC 6901) as \`from\` of the ${op} to ${JSON.stringify(to.path)}`,
    };
  }
  const value = valueAtKeys(patching.document, keys);
  if (value === undefined) return missing(from, op);
  if (op === 'copy') return copy(patching, to, value);
  if (from === to.path) return undefined;
  if (to.path.startsWith(`${from}/`))
    return { pointer: to.path, message: `${JSON.stringify(from)} cannot move into itself, to ${JSON.stringify(to.path)}` };
  return write(patching, { op: 'remove', path: from }) ?? add(patching, to, value);
}

function copy(patching: PatchState, to: PatchTarget, value: Json): PatchProblem | undefined {
  patching.copied += JSON.stringify(value).length;
  if (patching.copied > maxCopiedCharacters) {
    return {
      pointer: to.path,
      message: `expected copies of at most ${maxCopiedCharacters} characters in total, got more at ${JSON.stringify(to.path)}`,
    };
  }
  return add(patching, to, mutableCopy(value));
}

function write(patching: PatchState, operation: Operation): undefined {
  patching.document = jsonPatch.applyOperation<Json>(patching.document, operation).newDocument;
}

function missing(pointer: string, op: string): PatchProblem {
  return {
    pointer,
    message:
      op === 'add'
        ? `add: there is no map or list to which ${JSON.stringify(pointer)} can be added`
        : `${op}: there is no value at ${JSON.stringify(pointer)}`,
  };
}

function isPrototypePath(keys: readonly string[]): boolean {
  return keys.some((key, at) => key === '__proto__' || (key === 'prototype' && keys[at - 1] === 'constructor'));
}

function operandOf({ value }: JsonPatchOperation): Json {
  return value ?? null;
}

/** Returns a mutable copy. Its maps have no prototype, so they have only the keys of the document. */
function mutableCopy(value: Json): Json {
  if (Array.isArray(value)) return value.map(mutableCopy);
  if (!isJsonObject(value) || isRawNumber(value)) return value;
  const copied: Record<string, Json> = Object.create(null);
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) copied[key] = mutableCopy(member);
  }
  return copied;
}
