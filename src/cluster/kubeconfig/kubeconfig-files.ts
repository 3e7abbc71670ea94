import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseDocument, type Tags } from 'yaml';
import { MusterError } from '../../core/errors.ts';
import { sha256OfText } from '../../core/json/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

/** Maximum bytes of a kubeconfig. Most have a few KB; one with a thousand clusters has about 1 MB. */
const maxBytes = 16 * 1024 * 1024;

/** Maximum number of files whose parsed document is kept. */
const maxKept = 32;

/**
 * The parsed documents of files, by path, with the hash of their text. A gateway reads its kubeconfigs again 5 s after it has started, and after each
 * touch. To parse a file of 200 clusters takes 50 ms, in which nothing else runs.
 */
const kept = new Map<string, { readonly hash: string; readonly document: JsonObject }>();

/** One entry of `clusters`, `users` or `contexts`, with its position. */
export interface KubeconfigEntry {
  readonly name: string;
  /** The value of `cluster`, `user` or `context`. */
  readonly value: JsonObject;
  /** The file of the entry. Relative paths start at its folder. */
  readonly file: string;
  /** The position for messages: `/home/me/.kube/config: users[0].user`. */
  readonly where: string;
}

/** Several files merged by kubectl's rules: the first entry with a name wins. */
export interface MergedKubeconfig {
  readonly paths: readonly string[];
  readonly currentContext?: string;
  readonly clusters: ReadonlyMap<string, KubeconfigEntry>;
  readonly users: ReadonlyMap<string, KubeconfigEntry>;
  readonly contexts: ReadonlyMap<string, KubeconfigEntry>;
}

/**
 * Reads the files and merges them.
 *
 * @param missing If a file does not exist, `refuse` throws and `skip` leaves it out. kubectl leaves it out if KUBECONFIG names several
 * files.
 * @throws {MusterError} `BAD_INPUT` with the file and the problem: it does not exist, cannot be read, is not YAML or is not a kubeconfig.
 */
export async function readKubeconfigFiles(files: readonly string[], missing: 'refuse' | 'skip'): Promise<MergedKubeconfig> {
  const texts = await Promise.all(files.map((file) => readText(file, missing)));
  const clusters = new Map<string, KubeconfigEntry>();
  const users = new Map<string, KubeconfigEntry>();
  const contexts = new Map<string, KubeconfigEntry>();
  const paths: string[] = [];
  let currentContext: string | undefined;
  files.forEach((file, index) => {
    const text = texts[index];
    if (text === undefined) return;
    const document = parseOnce(text, file);
    paths.push(file);
    const current = document['current-context'];
    if (typeof current === 'string' && current !== '') currentContext ??= current;
    addEntries(clusters, document, { file, list: 'clusters', key: 'cluster' });
    addEntries(users, document, { file, list: 'users', key: 'user' });
    addEntries(contexts, document, { file, list: 'contexts', key: 'context' });
  });
  return { paths, clusters, users, contexts, ...(currentContext === undefined ? {} : { currentContext }) };
}

async function readText(file: string, missing: 'refuse' | 'skip'): Promise<string | undefined> {
  try {
    const bytes = await readFile(file);
    if (bytes.length > maxBytes) throw kubeconfigError(file, `expected at most ${maxBytes / 1024 / 1024} MiB`);
    return bytes.toString('utf8');
  } catch (error) {
    if (error instanceof MusterError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' && missing === 'skip') return undefined;
    throw kubeconfigError(file, code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code ?? 'unknown error'})`, error);
  }
}

/** Parses the text, or returns the document that is kept of the same text. Documents are shared and never changed. */
function parseOnce(text: string, file: string): JsonObject {
  const hash = sha256OfText(text);
  const before = kept.get(file);
  if (before?.hash === hash) return before.document;
  kept.delete(file);
  const document = parseKubeconfig(text, file);
  const [oldest] = kept.keys();
  if (kept.size >= maxKept && oldest !== undefined) kept.delete(oldest);
  kept.set(file, { hash, document });
  return document;
}

function parseKubeconfig(text: string, file: string): JsonObject {
  const document = parseDocument(text, { version: '1.1', customTags: withoutTimes, prettyErrors: false, logLevel: 'silent' });
  const first = document.errors[0];
  if (first !== undefined) throw kubeconfigError(file, `expected YAML: ${lineOf(text, first.pos[0])}${first.message.split('\n', 1)[0]}`);
  const value = toJson(() => document.toJS({ maxAliasCount: 100 }) as Json, file);
  if (value === null || value === undefined) return {};
  if (!isJsonObject(value)) throw kubeconfigError(file, 'expected a kubeconfig, an object with clusters, users and contexts');
  if (value.kind !== undefined && value.kind !== 'Config')
    throw kubeconfigError(file, `expected kind Config, got ${JSON.stringify(value.kind)}`);
  return value;
}

/** Removes the YAML tags for dates and for numbers of base 60. kubectl reads YAML 1.1 without them. */
function withoutTimes(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === 'string' || (tag.tag !== 'tag:yaml.org,2002:timestamp' && tag.format !== 'TIME'));
}

function toJson(make: () => Json, file: string): Json {
  try {
    return make();
  } catch (error) {
    throw kubeconfigError(file, 'expected YAML without a flood of aliases', error);
  }
}

interface EntryPlace {
  readonly file: string;
  readonly list: 'clusters' | 'users' | 'contexts';
  readonly key: 'cluster' | 'user' | 'context';
}

function addEntries(to: Map<string, KubeconfigEntry>, document: JsonObject, { file, list, key }: EntryPlace): void {
  const entries = document[list];
  if (entries === undefined || entries === null) return;
  if (!Array.isArray(entries)) throw kubeconfigError(file, `${list}: expected a list`);
  entries.forEach((entry: Json, index) => {
    const where = `${list}[${index}]`;
    if (!isJsonObject(entry) || typeof entry.name !== 'string' || entry.name === '')
      throw kubeconfigError(file, `${where}.name: expected a name`);
    const value = entry[key] ?? {};
    if (!isJsonObject(value)) throw kubeconfigError(file, `${where}.${key}: expected an object`);
    if (!to.has(entry.name)) to.set(entry.name, { name: entry.name, value, file, where: `${file}: ${where}.${key}` });
  });
}

function lineOf(text: string, position: number): string {
  return `line ${text.slice(0, position).split('\n').length}: `;
}

function kubeconfigError(file: string, what: string, cause?: unknown): MusterError {
  return new MusterError('BAD_INPUT', `the kubeconfig ${path.normalize(file)}: ${what}`, { cause });
}
