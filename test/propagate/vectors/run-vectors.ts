import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { MusterError } from '../../../src/core/errors.ts';
import { isJsonObject } from '../../../src/core/json.ts';
import type { Vector, VectorOp, VectorOps } from './vector.ts';

/** A case that did not come out as expected, or could not be run. */
interface VectorFailure {
  readonly file: string;
  readonly name: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/** The outcome of a run. */
export interface VectorRun {
  readonly passed: number;
  readonly failures: readonly VectorFailure[];
}

/** The vector files of a directory, `*.json` without what lies in folders below, by name. Throws if it cannot be read. */
export function vectorFilesIn(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => path.join(directory, entry.name))
    .sort();
}

/** Runs every case of one file. A file or an operation that is unknown fails, as does a file without cases or that is none. */
export function runVectorFile(file: string, ops: VectorOps): VectorRun {
  const known = ops[path.basename(file, '.json')];
  if (known === undefined) return { passed: 0, failures: [failureOf(file, '(the file)', 'a known file', 'an unknown one')] };
  const vectors = casesIn(readFileSync(file, 'utf8'));
  if (vectors.length === 0) return { passed: 0, failures: [failureOf(file, '(the file)', 'a list of cases', 'none')] };
  const failures = vectors.flatMap((vector: Vector) => failureIn(file, vector, known) ?? []);
  return { passed: vectors.length - failures.length, failures };
}

/** Empty if the text is no list of them. */
function casesIn(text: string): readonly Vector[] {
  try {
    const read: unknown = JSON.parse(text);
    return Array.isArray(read) && read.every((vector) => isJsonObject(vector?.input)) ? read : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function failureIn(file: string, vector: Vector, known: Readonly<Record<string, VectorOp>>): VectorFailure | undefined {
  const { op: name = '', ...input } = vector.input;
  const op = typeof name === 'string' && Object.hasOwn(known, name) ? known[name] : undefined;
  if (op === undefined) return failureOf(file, vector.name, 'a known op', name);
  const got = answerOf(op, deepFrozen(input));
  return got.type === 'answer' && op.accepts(got.value, vector.expected)
    ? undefined
    : failureOf(file, vector.name, vector.expected, got.value);
}

type Answer = { readonly type: 'answer'; readonly value: unknown } | { readonly type: 'thrown'; readonly value: string };

function answerOf(op: VectorOp, input: Parameters<VectorOp['run']>[0]): Answer {
  try {
    return { type: 'answer', value: op.run(input) };
  } catch (error) {
    if (error instanceof MusterError) return { type: 'answer', value: { error: true, errorText: error.message } };
    return { type: 'thrown', value: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

function failureOf(file: string, name: string, expected: unknown, got: unknown): VectorFailure {
  return { file: path.basename(file), name, expected, got };
}

/** Freezes an input at every depth. The functions are pure and must not change it. */
function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFrozen);
  }
  return value;
}
