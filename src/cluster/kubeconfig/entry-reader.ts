import path from 'node:path';
import { isJsonObject, type Json } from '../../core/json.ts';
import type { PemMaterial } from '../endpoint.ts';
import type { KubeconfigEntry } from './kubeconfig-files.ts';

/** A problem of one entry of the kubeconfig. Only the contexts that use the entry are broken. */
export class EntryProblem extends Error {
  override readonly name = 'EntryProblem';
}

/**
 * Reads the keys of one entry. If a key is absent or null, its value is undefined, false or an empty list, by the type that the method
 * returns. An empty text is undefined. A value of another type throws an `EntryProblem` with file and path.
 */
export interface EntryReader {
  text(key: string): string | undefined;
  flag(key: string): boolean;
  texts(key: string): readonly string[];
  object(key: string): EntryReader | undefined;
  objects(key: string): readonly EntryReader[];
  readonly keys: readonly string[];
  /** Returns the bytes of `KEY-data` (base64), else the file that `KEY` names. Undefined if the entry has neither. */
  material(key: string): PemMaterial | undefined;
  /** Resolves a path from the folder of the kubeconfig file. */
  pathOf(text: string): string;
  raw(key: string): Json | undefined;
  problem(key: string, what: string): EntryProblem;
}

export function createEntryReader({ value, file, where }: Pick<KubeconfigEntry, 'value' | 'file' | 'where'>): EntryReader {
  const problem = (key: string, what: string) => new EntryProblem(`${where}.${key}: ${what}`);
  const raw = (key: string): Json | undefined => (Object.hasOwn(value, key) ? (value[key] ?? undefined) : undefined);
  const child = (key: string, inner: Json): EntryReader => {
    if (!isJsonObject(inner)) throw problem(key, 'expected an object');
    return createEntryReader({ value: inner, file, where: `${where}.${key}` });
  };
  const list = (key: string): readonly Json[] => {
    const found = raw(key) ?? [];
    if (!Array.isArray(found)) throw problem(key, 'expected a list');
    return found as readonly Json[];
  };
  const text = (key: string): string | undefined => {
    const found = raw(key);
    if (found === undefined || found === '') return undefined;
    if (typeof found !== 'string') throw problem(key, `expected text, got a ${Array.isArray(found) ? 'list' : typeof found}`);
    return found;
  };
  return {
    text,
    problem,
    raw,
    keys: Object.keys(value),
    flag(key) {
      const found = raw(key) ?? false;
      if (typeof found !== 'boolean') throw problem(key, 'expected true or false');
      return found;
    },
    texts: (key) =>
      list(key).map((item, index) => {
        if (typeof item !== 'string') throw problem(`${key}[${index}]`, 'expected text');
        return item;
      }),
    object(key) {
      const found = raw(key);
      return found === undefined ? undefined : child(key, found);
    },
    objects: (key) => list(key).map((item, index) => child(`${key}[${index}]`, item)),
    pathOf: (name) => path.resolve(path.dirname(file), name),
    material(key) {
      const data = text(`${key}-data`);
      if (data !== undefined) return { type: 'data', data: fromBase64(data) ?? raise(problem(`${key}-data`, 'expected base64')) };
      const name = text(key);
      return name === undefined ? undefined : { type: 'file', path: path.resolve(path.dirname(file), name) };
    },
  };
}

function fromBase64(text: string): Uint8Array | undefined {
  const compact = text.replace(/\s+/g, '');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(compact) ? Buffer.from(compact, 'base64') : undefined;
}

function raise(problem: EntryProblem): never {
  throw problem;
}
