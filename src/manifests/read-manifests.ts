import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../core/json.ts';
import { listAt, textAt, valueAt } from '../core/json-at.ts';
import { isPathSegment } from '../core/names.ts';
import { isDeeperThan, withoutMembers } from './json-edits.ts';
import type { Manifest } from './manifest.ts';
import { withoutServerFields } from './prune.ts';
import { maxDepth, maxManifestBytes, readYamlDocuments } from './yaml-documents.ts';

/** What was read: every manifest, or why not. `path` is of the field, below `[2]` for the third document of several; messages hold no values. */
export type ManifestsRead =
  | { readonly result: 'read'; readonly manifests: readonly Manifest[] }
  | { readonly result: 'refused'; readonly path: string; readonly message: string };

interface ReadManifestsOptions {
  /** Whether a `List` is refused [it is], or stands for its items, as kubectl takes it. */
  readonly lists?: 'refused' | 'opened';
}

/** The manifests in a text of YAML or JSON (`readYamlDocuments`), each checked and stripped as `readManifest` says. At least one. */
export function readManifestText(text: string, options: ReadManifestsOptions = {}): ManifestsRead {
  const read = readYamlDocuments(text);
  return read.result === 'refused' ? refused('', read.message) : readAll(read.documents, options);
}

/** The manifest that a JSON value is, checked and stripped as `readManifest` says; with `lists: 'opened'` the items of a `List`. */
export function readManifestJson(json: Json, options: ReadManifestsOptions = {}): ManifestsRead {
  // Depth first: whoever prints it recurses.
  if (isDeeperThan(json, maxDepth)) return refused('', `expected at most ${maxDepth} levels, got more`);
  if (Buffer.byteLength(JSON.stringify(json)) > maxManifestBytes)
    return refused('', `expected at most ${maxManifestBytes} bytes of JSON, got more`);
  return readAll([json], options);
}

function readAll(documents: readonly Json[], { lists = 'refused' }: ReadManifestsOptions): ManifestsRead {
  const found = documents.flatMap((document, index): readonly DocumentAtPath[] => {
    const path = documents.length === 1 ? '' : `[${index}]`;
    if (lists === 'refused' || !isList(document)) return [{ path, document }];
    return listAt(document, 'items').map((item, at) => ({ path: `${path}${path === '' ? '' : '.'}items[${at}]`, document: item }));
  });
  if (found.length === 0) return refused('', 'expected a manifest, got none');
  const manifests: Manifest[] = [];
  for (const { path, document } of found) {
    const read = readManifest(document);
    if (read.result === 'refused') return refused([path, read.path].filter((part) => part !== '').join('.'), read.message);
    manifests.push(read.manifest);
  }
  return { result: 'read', manifests };
}

interface DocumentAtPath {
  readonly path: string;
  readonly document: Json;
}

type ManifestRead =
  | { readonly result: 'read'; readonly manifest: Manifest }
  | { readonly result: 'refused'; readonly path: string; readonly message: string };

/**
 * One manifest. Stripped: `status`, and of the metadata what is true in one cluster alone (uid, resourceVersion, managedFields, generation, timestamps,
 * selfLink, ownerReferences, and a generateName beside a name). Refused: what has no apiVersion, kind or name of its own; a `List`; names that are no segment
 * of a path; integers beyond 64 bits, which the API server would round.
 */
function readManifest(json: Json): ManifestRead {
  if (!isJsonObject(json)) return refused('', 'expected an object');
  if (isList(json)) return refused('', 'expected one object, got a list of them');
  const problem = checks.map((check) => check(json)).find((one) => one !== undefined) ?? longInteger(json);
  if (problem !== undefined) return problem;
  const stripped = withoutServerFields(json);
  const { metadata: written } = stripped;
  const nowhere = valueAt(written, 'namespace') === null ? ['namespace'] : [];
  const metadata = isJsonObject(written) ? withoutMembers(written, ['generateName', ...nowhere]) : {};
  // The checks above are what a manifest is.
  return { result: 'read', manifest: { ...stripped, metadata } as unknown as Manifest };
}

type Refused = Extract<ManifestRead, { readonly result: 'refused' }>;

function refused(path: string, message: string): Refused {
  return { result: 'refused', path, message };
}

/** True for a list of objects, as kubectl tells one: by its kind and its items. */
export function isList(json: Json): boolean {
  return textAt(json, 'kind')?.endsWith('List') === true && Array.isArray(valueAt(json, 'items'));
}

const dnsLabel = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const namespacePattern = new RegExp(`^${dnsLabel}$`);
const apiVersionPattern = new RegExp(`^(?:(?=[^/]{1,253}/)${dnsLabel}(?:\\.${dnsLabel})*/)?${dnsLabel}$`);

/** In the order in which somebody would look. */
const checks: readonly ((json: JsonObject) => Refused | undefined)[] = [
  (json) => checkText(json, ['apiVersion'], { fits: (text) => apiVersionPattern.test(text), expected: 'a version such as v1 or apps/v1' }),
  (json) => checkText(json, ['kind'], { fits: (text) => /^[A-Za-z][A-Za-z0-9]{0,62}$/.test(text), expected: 'a kind such as Deployment' }),
  (json) => (isJsonObject(json.metadata) ? undefined : refused('metadata', 'expected an object')),
  checkName,
  checkNamespace,
  (json) => checkLabels(json, 'labels'),
  (json) => checkLabels(json, 'annotations'),
];

interface TextRule {
  readonly fits: (text: string) => boolean;
  readonly expected: string;
}

function checkText(json: JsonObject, keys: readonly string[], { fits, expected }: TextRule): Refused | undefined {
  const text = textAt(json, ...keys);
  return text !== undefined && fits(text) ? undefined : refused(keys.join('.'), `expected ${expected}`);
}

function checkName(json: JsonObject): Refused | undefined {
  if (valueAt(json, 'metadata', 'name') === undefined && valueAt(json, 'metadata', 'generateName') !== undefined) {
    return refused('metadata.generateName', 'expected a name: what is named by each cluster cannot be found again');
  }
  return checkText(json, ['metadata', 'name'], {
    fits: isPathSegment,
    expected: 'a name of 1 to 253 characters without / and %, not . or ..',
  });
}

function checkNamespace(json: JsonObject): Refused | undefined {
  const namespace = valueAt(json, 'metadata', 'namespace');
  if (namespace === undefined || namespace === null) return undefined;
  return checkText(json, ['metadata', 'namespace'], { fits: (text) => namespacePattern.test(text), expected: 'the name of a namespace' });
}

function checkLabels(json: JsonObject, field: 'labels' | 'annotations'): Refused | undefined {
  const map = valueAt(json, 'metadata', field);
  if (map === undefined || map === null) return undefined;
  if (!isJsonObject(map)) return refused(`metadata.${field}`, 'expected texts by keys');
  const wrong = Object.entries(map).find(([, value]) => typeof value !== 'string' && value !== null);
  return wrong === undefined ? undefined : refused(`metadata.${field}[${JSON.stringify(wrong[0])}]`, 'expected a text');
}

/** Custom resources would keep a rounded one, and say nothing. */
function longInteger(json: Json, path = ''): Refused | undefined {
  if (isRawNumber(json)) {
    const value = BigInt(json.rawJSON);
    return BigInt.asIntN(64, value) === value ? undefined : refused(path, 'expected an integer of 64 bits');
  }
  if (typeof json !== 'object' || json === null) return undefined;
  for (const [key, member] of Object.entries(json)) {
    const at = Array.isArray(json) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    const problem = member === undefined ? undefined : longInteger(member as Json, at);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
