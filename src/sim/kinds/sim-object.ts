import { withKeysInOrder } from '../../core/json/canonical-json.ts';
import { type JsonObject, parseJson } from '../../core/json.ts';
import { apiVersionOf } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { SimKind } from './built-in-kinds.ts';

/** One state of an object, as text. Text takes half the memory of a parsed object, and is sent unchanged. */
export interface SimObject {
  /** Key in the order of etcd: `namespace/name`, or the name alone. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Uids of the owners. */
  readonly owners: readonly string[];
  readonly terminating: boolean;
  /**
   * Built-in kinds: the members after kind and apiVersion, metadata first, without braces. Custom kinds: the whole object with sorted
   * keys.
   */
  readonly text: string;
  /** End of the metadata in `text`. 0 if the metadata is not the first member. */
  readonly metadataEnd: number;
}

/** The form of an object in an answer. `object`: alone or in an event. `item`: in a list. `metadata`: PartialObjectMetadata. */
export type WireShape = 'object' | 'item' | 'metadata';

export interface WireForm {
  readonly shape: WireShape;
  /** The version of the request. */
  readonly version: string;
}

/** The order of the fields of ObjectMeta in Go. Other fields follow; managedFields are last. */
const metadataOrder = [
  ...['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp'],
  ...['deletionGracePeriodSeconds', 'labels', 'annotations', 'ownerReferences', 'finalizers'],
];

/** Keys are sorted down to this depth only, so that no custom object can exhaust the stack. */
const maxDepth = 500;

export function storageKey(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** Creates the state to store. */
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

/** Returns the text of the object in an answer. */
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

/** Parses the stored text. Returns a new object at each call, with `kind` and with the `apiVersion` of the first version of the kind. */
export function parseSimObject(kind: SimKind, stored: SimObject): KubernetesObject {
  const version = kind.versions[0] ?? '';
  const text = wireText(kind, stored, { shape: 'object', version });
  return parseJson(text) as unknown as KubernetesObject;
}

function orderedMetadata(metadata: JsonObject): JsonObject {
  const { managedFields, ...rest } = metadata;
  const known = metadataOrder.filter((key) => rest[key] !== undefined).map((key) => [key, rest[key]] as const);
  const unknown = Object.entries(rest).filter(([key]) => !metadataOrder.includes(key));
  const last = managedFields === undefined ? [] : [['managedFields', managedFields] as const];
  return Object.fromEntries([...known, ...unknown, ...last]);
}
