import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../core/json.ts';
import { listAt, textAt, valueAt } from '../core/json-at.ts';
import { isPathSegment } from '../core/names.ts';
import { runAtOnce, type Steps } from '../core/scheduling/operation-scheduler.ts';
import { utf8Length } from '../core/text.ts';
import { isDeeperThan, withoutMembers } from './json-edits.ts';
import type { Manifest } from './manifest.ts';
import { withoutServerFields } from './portable-object.ts';
import { maxDepth, maxManifestBytes, yamlDocumentsInSteps } from './yaml-documents.ts';

/**
 * The result of reading manifests: all of them, or the first problem. `path` is the path of the field. With several documents, the path
 * starts with the index of the document, such as `[2]`. Messages never contain values.
 */
export type ManifestsRead =
  | { readonly result: 'read'; readonly manifests: readonly Manifest[] }
  | { readonly result: 'refused'; readonly path: string; readonly message: string };

interface ReadManifestsOptions {
  /** `refused`: a `List` is an error. `opened`: its items are read instead, as kubectl does. Default: `refused`. */
  readonly lists?: 'refused' | 'opened';
}

/**
 * Reads the manifests in a text of YAML or JSON (see `readYamlDocuments`), at least one. Checks each manifest, and removes the fields that
 * belong to one cluster, such as status and uid.
 */
export function readManifestText(text: string, options: ReadManifestsOptions = {}): ManifestsRead {
  return runAtOnce(manifestTextInSteps(text, options));
}

/** Like `readManifestText`, but the caller can interrupt it, as `yamlDocumentsInSteps`, and between two manifests. */
export function* manifestTextInSteps(text: string, options: ReadManifestsOptions = {}): Steps<ManifestsRead> {
  const read = yield* yamlDocumentsInSteps(text);
  return read.result === 'refused' ? refused('', read.message) : yield* allInSteps(read.documents, options);
}

/**
 * Reads a manifest from a JSON value, or the items of a `List` with `lists: 'opened'`. Checks each manifest, and removes the fields that
 * belong to one cluster, such as status and uid.
 */
export function readManifestJson(json: Json, options: ReadManifestsOptions = {}): ManifestsRead {
  return runAtOnce(manifestJsonInSteps(json, options));
}

/** Like `readManifestJson`, but the caller can interrupt it, also between two manifests of a `List`. */
export function* manifestJsonInSteps(json: Json, options: ReadManifestsOptions = {}): Steps<ManifestsRead> {
  // The depth is checked first, because JSON.stringify recurses.
  if (isDeeperThan(json, maxDepth)) return refused('', `expected at most ${maxDepth} levels, got more`);
  yield;
  if (utf8Length(JSON.stringify(json)) > maxManifestBytes)
    return refused('', `expected at most ${maxManifestBytes} bytes of JSON, got more`);
  yield;
  return yield* allInSteps([json], options);
}

function* allInSteps(documents: readonly Json[], { lists = 'refused' }: ReadManifestsOptions): Steps<ManifestsRead> {
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
    yield;
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
 * Checks one manifest and removes what is specific to one cluster.
 *
 * Removed: `status`, uid, resourceVersion, managedFields, generation, timestamps, selfLink, ownerReferences, and a generateName next to a
 * name.
 *
 * Refused: manifests without apiVersion, kind or name; a `List`; names that cannot be part of a URL path; integers beyond 64 bits, which
 * the API server would round.
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
  // The checks above prove that the value is a manifest.
  return { result: 'read', manifest: { ...stripped, metadata } as unknown as Manifest };
}

type RefusedManifest = Extract<ManifestRead, { readonly result: 'refused' }>;

function refused(path: string, message: string): RefusedManifest {
  return { result: 'refused', path, message };
}

/** True for a list of objects. As in kubectl, its kind ends with `List` and it has `items`. */
export function isList(json: Json): boolean {
  return textAt(json, 'kind')?.endsWith('List') === true && Array.isArray(valueAt(json, 'items'));
}

const dnsLabel = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const namespacePattern = new RegExp(`^${dnsLabel}$`);
const apiVersionPattern = new RegExp(`^(?:(?=[^/]{1,253}/)${dnsLabel}(?:\\.${dnsLabel})*/)?${dnsLabel}$`);

/** The checks of a manifest, in the order of its fields. Only the first check that fails is reported. */
const checks: readonly ((json: JsonObject) => RefusedManifest | undefined)[] = [
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

function checkText(json: JsonObject, keys: readonly string[], { fits, expected }: TextRule): RefusedManifest | undefined {
  const text = textAt(json, ...keys);
  return text !== undefined && fits(text) ? undefined : refused(keys.join('.'), `expected ${expected}`);
}

function checkName(json: JsonObject): RefusedManifest | undefined {
  if (valueAt(json, 'metadata', 'name') === undefined && valueAt(json, 'metadata', 'generateName') !== undefined) {
    return refused(
      'metadata.generateName',
      'expected a name: each cluster would generate another one, and the object could not be found again',
    );
  }
  return checkText(json, ['metadata', 'name'], {
    fits: isPathSegment,
    expected: 'a name of 1 to 253 characters without / and %, not . or ..',
  });
}

function checkNamespace(json: JsonObject): RefusedManifest | undefined {
  const namespace = valueAt(json, 'metadata', 'namespace');
  if (namespace === undefined || namespace === null) return undefined;
  return checkText(json, ['metadata', 'namespace'], { fits: (text) => namespacePattern.test(text), expected: 'the name of a namespace' });
}

function checkLabels(json: JsonObject, field: 'labels' | 'annotations'): RefusedManifest | undefined {
  const map = valueAt(json, 'metadata', field);
  if (map === undefined || map === null) return undefined;
  if (!isJsonObject(map)) return refused(`metadata.${field}`, 'expected texts by keys');
  const wrong = Object.entries(map).find(([, value]) => typeof value !== 'string' && value !== null);
  return wrong === undefined ? undefined : refused(`metadata.${field}[${JSON.stringify(wrong[0])}]`, 'expected a text');
}

/**
 * Returns a refusal for the first integer beyond 64 bits. Undefined if there is none. An API server would store it rounded in a custom
 * resource, without an error.
 */
function longInteger(json: JsonObject): RefusedManifest | undefined {
  const path = pathOfLongInteger(json);
  return path === undefined ? undefined : refused(path.startsWith('.') ? path.slice(1) : path, 'expected an integer of 64 bits');
}

/** Returns the path of the first integer beyond 64 bits, such as `.spec.ports[0]`. Undefined if there is none. */
function pathOfLongInteger(json: object): string | undefined {
  if (isRawNumber(json)) {
    const value = BigInt(json.rawJSON);
    return BigInt.asIntN(64, value) === value ? undefined : '';
  }
  // Only the members that may hold one are visited, because a manifest may have 200,000 texts.
  for (const [key, member] of Object.entries(json)) {
    if (typeof member !== 'object' || member === null) continue;
    const below = pathOfLongInteger(member);
    if (below !== undefined) return `${Array.isArray(json) ? `[${key}]` : `.${key}`}${below}`;
  }
  return undefined;
}
