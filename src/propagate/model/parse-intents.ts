import { readDocument } from '../../core/json/documents.ts';
import { labels as labelMap } from '../../core/json/field-definitions.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';
import { isList } from '../../manifests/read-manifests.ts';
import { readYamlDocuments } from '../../manifests/yaml-documents.ts';
import { documentOf, inputOf } from './input-spec.ts';
import { musterGroup, musterVersion } from './propagation.ts';
import type { PropagationInput } from './propagations.ts';
import type { SpecProblem } from './spec.ts';
import { spec } from './spec-definition.ts';

/** One Propagation that was read from a text, in the form that the GraphQL schema takes. */
export interface Intent {
  readonly namespace: string;
  readonly name: string;
  /** `PropagationInput`. */
  readonly input: Json;
}

/** One problem of one document of a text. */
export interface IntentProblem extends SpecProblem {
  /** The document with the problem: `document 2`, or `document 1, items[3]`. Empty if the text has only one document. */
  readonly document: string;
}

/** The result of reading a text: all its Propagations, in order and at least one; or all problems. */
export type ParsedIntents =
  | { readonly result: 'read'; readonly intents: readonly Intent[] }
  | { readonly result: 'refused'; readonly problems: readonly IntentProblem[] };

export interface ReadIntentsOptions {
  /** The namespace of all Propagations. Default: the namespace in each document, else `default`, as with kubectl. */
  readonly namespace?: string | undefined;
}

const apiVersion = `${musterGroup}/${musterVersion}`;

/**
 * Reads the Propagations in a text of YAML or JSON, as kubectl would send them to the hub (`readYamlDocuments`). A `List` counts as its
 * items. Leaves out everything that the hub or the gateway fills in: the status, the requester, and all metadata except namespace, name and
 * labels. Never throws.
 */
export function parseIntents(text: string, { namespace }: ReadIntentsOptions = {}): ParsedIntents {
  const read = readYamlDocuments(text);
  if (read.result === 'refused') return { result: 'refused', problems: [{ document: '', path: '', message: read.message }] };
  const found = read.documents.flatMap((document, index) =>
    itemsOfDocument(document, read.documents.length === 1 ? '' : `document ${index + 1}`),
  );
  if (found.length === 0) return { result: 'refused', problems: [{ document: '', path: '', message: 'expected a Propagation, got none' }] };
  const intents: Intent[] = [];
  const problems: IntentProblem[] = [];
  for (const { document, value } of found) {
    const one = readOne(value, namespace);
    if ('problems' in one) for (const problem of one.problems) problems.push({ document, ...problem });
    else intents.push(one);
  }
  return problems.length > 0 ? { result: 'refused', problems } : { result: 'read', intents };
}

/**
 * Returns a `PropagationInput` as a resource of the hub, ready for `kubectl apply`. `parseIntents` reads an equal input from it. The spec
 * is not checked.
 */
export function resourceOfInput(input: PropagationInput): JsonObject {
  const { namespace, name, labels, document } = documentOf(input);
  return { apiVersion, kind: 'Propagation', metadata: { namespace, name, ...(labels === undefined ? {} : { labels }) }, spec: document };
}

interface DocumentValue {
  readonly document: string;
  readonly value: Json;
}

function itemsOfDocument(value: Json, document: string): readonly DocumentValue[] {
  if (!isList(value)) return [{ document, value }];
  return listAt(value, 'items').map((item, at) => ({
    document: [document, `items[${at}]`].filter((part) => part !== '').join(', '),
    value: item,
  }));
}

function readOne(value: Json, namespace: string | undefined): Intent | { readonly problems: readonly SpecProblem[] } {
  if (!isJsonObject(value)) return { problems: [{ path: '', message: 'expected a Propagation' }] };
  const { apiVersion: version, kind } = value;
  if (version !== apiVersion || kind !== 'Propagation') return { problems: [{ path: '', message: otherKind(value) }] };
  const problems: SpecProblem[] = [];
  const metadata = metadataOf(value, { namespace, problems });
  for (const field of Object.keys(value)) {
    if (!members.has(field)) problems.push({ path: field, message: 'expected no such field' });
  }
  if (!isJsonObject(value.spec)) return { problems: [...problems, { path: 'spec', message: 'expected an object' }] };
  const { requester: _, ...document } = value.spec;
  const read = readDocument(spec, document, { path: 'spec' });
  if ('problems' in read) return { problems: [...problems, ...read.problems] };
  if (problems.length > 0 || metadata === undefined) return { problems };
  return { namespace: metadata.namespace, name: metadata.name, input: inputOf({ metadata, document, spec: read.value }) };
}

const members = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status']);

function otherKind({ apiVersion: version, kind }: JsonObject): string {
  const expected = `expected a Propagation of ${apiVersion}`;
  if (typeof version !== 'string') return `${expected}, got an object without a text in apiVersion`;
  if (typeof kind !== 'string') return `${expected}, got an object without a text in kind`;
  const remedy = kind === 'Propagation' ? '' : ': put the objects to propagate into spec.template of a Propagation';
  return `${expected}, got a ${kind.slice(0, 63)} of ${version.slice(0, 80)}${remedy}`;
}

interface MetadataOptions {
  readonly namespace: string | undefined;
  readonly problems: SpecProblem[];
}

function metadataOf(value: JsonObject, { namespace: wanted, problems }: MetadataOptions) {
  const { metadata } = value;
  const name = textAt(metadata, 'name') ?? '';
  if (name === '') problems.push({ path: 'metadata.name', message: 'expected a name' });
  const written = valueAt(metadata, 'namespace') ?? undefined;
  if (written !== undefined && typeof written !== 'string')
    problems.push({ path: 'metadata.namespace', message: 'expected the name of a namespace' });
  if (wanted !== undefined && typeof written === 'string' && written !== wanted) {
    problems.push({ path: 'metadata.namespace', message: `expected ${wanted}, which was named, or none, got ${written.slice(0, 63)}` });
  }
  const labels = readDocument(labelMap, valueAt(metadata, 'labels') ?? {}, { path: 'metadata.labels' });
  if ('problems' in labels) {
    for (const problem of labels.problems) problems.push(problem);
    return undefined;
  }
  return { namespace: wanted ?? (typeof written === 'string' ? written : 'default'), name, labels: labels.value };
}
