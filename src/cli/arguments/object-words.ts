import { CommandFailure, exitCodes } from '../client/command-failure.ts';

/** An object as the command line names it: without a cluster. */
export interface ObjectWord {
  /** The kind as the user wrote it. */
  readonly kind: string;
  readonly name: string;
}

/** Objects to list: a kind, and optionally the names of its objects. */
export interface ListTarget {
  /** The kind as the user wrote it. */
  readonly kind: string;
  /** Default: all objects of the kind. */
  readonly names?: readonly string[];
}

/**
 * Parses the words of `get` as kubectl does.
 *
 * Accepts `KIND[,KIND]…` with optional names that apply to every kind, or any number of `KIND/NAME`.
 *
 * @throws {CommandFailure} if a word names no object or kind.
 */
export function parseListTargets(words: readonly string[]): readonly ListTarget[] {
  if (words.some((word) => word.includes('/'))) {
    const byKind = Map.groupBy(words.map(slashed), ({ kind }) => kind);
    return [...byKind].map(([kind, objects]) => ({ kind, names: [...new Set(objects.map(({ name }) => name))] }));
  }
  const [kinds = '', ...names] = words;
  const all = kinds.split(',').map((kind) => kind.trim());
  if (all.includes('')) throw new CommandFailure(exitCodes.refused, 'Expected names of kinds with commas between them.');
  return all.map((kind) => (names.length === 0 ? { kind } : { kind, names: [...new Set(names)] }));
}

/**
 * Parses words that name objects as kubectl does: a kind with names, or any number of `KIND/NAME`.
 *
 * @param wanted Parts of the error message: the expected words, and why a kind alone is not enough.
 * @throws {CommandFailure} if the words name no object.
 */
export function parseObjectWords(
  words: readonly string[],
  wanted: { readonly words: string; readonly why: string },
): readonly ObjectWord[] {
  const [first, ...names] = words;
  if (first === undefined) throw new CommandFailure(exitCodes.refused, `expected ${wanted.words}`);
  if (words.some((word) => word.includes('/'))) return words.map(slashed);
  if (first.includes(',')) throw new CommandFailure(exitCodes.refused, `expected one kind, got ${first}: write several kinds as KIND/NAME`);
  if (names.length === 0) throw new CommandFailure(exitCodes.refused, `expected names of ${first}: ${wanted.why}`);
  return names.map((name) => ({ kind: first, name }));
}

function slashed(word: string): ObjectWord {
  const [kind = '', name = '', ...rest] = word.split('/');
  if (kind === '' || name === '' || rest.length > 0) throw new CommandFailure(exitCodes.refused, `expected KIND/NAME, got ${word}`);
  return { kind, name };
}
