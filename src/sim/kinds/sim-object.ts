import { withKeysInOrder } from '../../core/json/canonical-json.ts';
import { type JsonObject, parseJson } from '../../core/json.ts';
import { apiVersionOf } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { SimKind } from './built-in-kinds.ts';

/** One state of one object. Only its text is kept, which takes half the memory of the parsed object, and is what goes over the wire. */
export interface SimObject {
  /** `namespace/name`, or the name alone: what etcd orders by. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Uids of its owners. */
  readonly owners: readonly string[];
  readonly terminating: boolean;
  /** Built-in kinds: the members after kind and apiVersion, metadata first, without braces. Custom ones: the whole object, keys sorted. */
  readonly text: string;
  /** Where the metadata ends in it; 0 where it is not the first member. */
  readonly metadataEnd: number;
}

/** How an object stands on the wire: alone or in an event, among the items of a list, or its metadata only. */
export type WireShape = 'object' | 'item' | 'metadata';

export interface WireForm {
  readonly shape: WireShape;
  /** The version asked for. */
  readonly version: string;
}

/** The order of the fields of ObjectMeta in Go; the rest follows, managedFields are last. */
const metadataOrder = [
  ...['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp'],
  ...['deletionGracePeriodSeconds', 'labels', 'annotations', 'ownerReferences', 'finalizers'],
];

/** How deep keys are sorted: beyond it an object of a custom kind keeps its order, so that no depth can exhaust the stack. */
const maxDepth = 500;

export function storageKey(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** Makes the state to keep. */
export function simObjectOf(kind: SimKind, object: KubernetesObject, revision: number): SimObject {
  const { metadata } = object;
  const { text, metadataEnd } = textFor(kind, object);
  return {
    key: storageKey(metadata.namespace ?? '', metadata.name),
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid ?? '',
    revision,
    labels: { ...metadata.labels },
    owners: (metadata.ownerReferences ?? []).flatMap(({ uid }) => uid ?? []),
    terminating: metadata.deletionTimestamp !== undefined,
    text,
    metadataEnd,
  };
}

function textFor(kind: SimKind, object: KubernetesObject): { text: string; metadataEnd: number } {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
  if (kind.source === 'custom') {
    const apiVersion = apiVersionOf({ group: kind.group, version: kind.versions[0] ?? '' });
    return { text: JSON.stringify(withKeysInOrder({ apiVersion, kind: kind.kind, metadata, ...rest }, maxDepth)), metadataEnd: 0 };
  }
  const start = `"metadata":${JSON.stringify(orderedMetadata(metadata))}`;
  const { status, ...others } = rest;
  const tail = JSON.stringify(status === undefined ? others : { ...others, status }).slice(1, -1);
  return { text: tail === '' ? start : `${start},${tail}`, metadataEnd: start.length };
}

/** The object's text as it goes over the wire. */
export function wireText(kind: SimKind, stored: SimObject, form: WireForm): string {
  if (form.shape === 'metadata') {
    const start = '{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",';
    if (stored.metadataEnd > 0) return `${start}${stored.text.slice(0, stored.metadataEnd)}}`;
    return `${start}"metadata":${JSON.stringify(orderedMetadata(parseSimObject(kind, stored).metadata))}}`;
  }
  if (kind.source === 'custom') {
    if (form.version === kind.versions[0]) return stored.text;
    const apiVersion = apiVersionOf({ group: kind.group, version: form.version });
    return JSON.stringify(withKeysInOrder({ ...parseSimObject(kind, stored), apiVersion }, maxDepth));
  }
  if (form.shape === 'item') return `{${stored.text}}`;
  return `{"kind":"${kind.kind}","apiVersion":"${apiVersionOf({ group: kind.group, version: form.version })}",${stored.text}}`;
}

/** The object itself, whole, in a copy of its own. */
export function parseSimObject(kind: SimKind, stored: SimObject): KubernetesObject {
  const version = kind.versions[0] ?? '';
  const text = wireText(kind, stored, { shape: 'object', version });
  return parseJson(text) as unknown as KubernetesObject;
}

/** Metadata in the order of Go's struct. */
function orderedMetadata(metadata: JsonObject): JsonObject {
  const { managedFields, ...rest } = metadata;
  const known = metadataOrder.filter((key) => rest[key] !== undefined).map((key) => [key, rest[key]] as const);
  const unknown = Object.entries(rest).filter(([key]) => !metadataOrder.includes(key));
  const last = managedFields === undefined ? [] : [['managedFields', managedFields] as const];
  return Object.fromEntries([...known, ...unknown, ...last]);
}
