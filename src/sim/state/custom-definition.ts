import { compareApiVersions } from '../../core/api-versions.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, objectAt, textAt, valueAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { parseTexts } from '../../model/model-document.ts';
import type { ScalePaths, SimKind } from '../kinds/built-in-kinds.ts';
import { parseSimObject, type SimObject } from '../kinds/sim-object.ts';
import { removeWithDependents } from './deletion.ts';
import type { KindStorage } from './kind-storage.ts';
import { createObject, findNamesake, replaceObject, type WriteOptions } from './object-writes.ts';
import type { SimState } from './sim-state.ts';

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'] as const;

/** Returns the kind of a CustomResourceDefinition. Undefined if a required field is missing. */
export function customKindOf({ spec }: KubernetesObject): SimKind | undefined {
  if (!isJsonObject(spec) || !isJsonObject(spec.names)) return undefined;
  const { group, names, scope } = spec;
  const versions = served(spec.versions);
  if (typeof group !== 'string' || typeof names.kind !== 'string' || typeof names.plural !== 'string' || versions.length === 0)
    return undefined;
  return {
    group,
    kind: names.kind,
    listKind: typeof names.listKind === 'string' ? names.listKind : `${names.kind}List`,
    resource: names.plural,
    singular: typeof names.singular === 'string' ? names.singular : names.kind.toLowerCase(),
    namespaced: scope === 'Namespaced',
    versions: versions.map(({ name }) => name).sort(compareApiVersions),
    verbs,
    shortNames: parseTexts(names.shortNames),
    categories: parseTexts(names.categories),
    hasStatus: versions.some(({ hasStatus }) => hasStatus),
    schemas: Object.fromEntries(versions.map(({ name, schema }) => [name, schema])),
    ...scaleOf(versions.map(({ scale }) => scale).find((scale) => scale !== undefined)),
    source: 'custom',
    anonymous: false,
    zero: '',
  };
}

/**
 * Creates or replaces a definition and serves its kind. Makes two changes, as a real server does: the definition, then its status. The kind
 * is served before watches receive these changes.
 */
export function applyDefinition(state: SimState, object: KubernetesObject, options: WriteOptions): SimObject {
  const definitions = definitionsOf(state);
  const kind = customKindOf(object);
  const before = findNamesake(definitions, object);
  const bare = withStatus(object, { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: storedVersionsOf(object) });
  const stored =
    before === undefined
      ? createObject(state, definitions, bare, options)
      : replaceObject(state, definitions, {
          ...options,
          before,
          object: withStatus(object, parseSimObject(definitions.kind, before).status),
        });
  if (kind !== undefined) {
    state.serve(kind);
    replaceObject(state, definitions, {
      manager: 'kube-apiserver',
      before: stored,
      object: established(state, parseSimObject(definitions.kind, stored)),
    });
  }
  return stored;
}

/** Deletes each object of the kind, stops serving the kind, and deletes the definition. */
export function withdrawDefinition(state: SimState, definition: SimObject): void {
  const definitions = definitionsOf(state);
  const kind = customKindOf(parseSimObject(definitions.kind, definition));
  const storage = kind === undefined ? undefined : state.storage(kind.group, kind.resource);
  for (const object of storage?.sorted() ?? []) if (storage !== undefined) removeWithDependents(state, storage, object);
  if (storage !== undefined) state.withdraw(storage);
  removeWithDependents(state, definitions, definition);
}

/** True for the kind CustomResourceDefinition. */
export function isDefinitions({ kind }: KindStorage): boolean {
  return kind.kind === 'CustomResourceDefinition' && kind.group === 'apiextensions.k8s.io';
}

function definitionsOf(state: SimState): KindStorage {
  return state.storageOf({ group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' });
}

function established(state: SimState, object: KubernetesObject): KubernetesObject {
  const names = isJsonObject(object.spec) && isJsonObject(object.spec.names) ? object.spec.names : {};
  const lastTransitionTime = textAt(listAt(object.status, 'conditions')[0], 'lastTransitionTime') ?? state.timestamp();
  const conditions = [
    { type: 'NamesAccepted', status: 'True', lastTransitionTime, reason: 'NoConflicts', message: 'no conflicts found' },
    {
      type: 'Established',
      status: 'True',
      lastTransitionTime,
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    },
  ];
  return withStatus(object, { conditions, acceptedNames: names, storedVersions: storedVersionsOf(object) });
}

function withStatus(object: KubernetesObject, status: Json | undefined): KubernetesObject {
  return { ...object, ...(status === undefined ? {} : { status }) };
}

function storedVersionsOf({ spec }: KubernetesObject): readonly string[] {
  const versions = isJsonObject(spec) && Array.isArray(spec.versions) ? spec.versions : [];
  return versions
    .filter((version: Json): version is JsonObject => isJsonObject(version) && version.storage === true)
    .map(({ name }) => String(name));
}

interface ServedVersion {
  readonly name: string;
  readonly hasStatus: boolean;
  readonly scale: Json | undefined;
  readonly schema: JsonObject;
}

function served(versions: Json | undefined): readonly ServedVersion[] {
  if (!Array.isArray(versions)) return [];
  return versions
    .filter((version: Json): version is JsonObject => isJsonObject(version) && version.served !== false && typeof version.name === 'string')
    .map((version) => ({
      name: String(version.name),
      hasStatus: valueAt(version, 'subresources', 'status') !== undefined,
      scale: valueAt(version, 'subresources', 'scale'),
      schema: objectAt(version, 'schema', 'openAPIV3Schema'),
    }));
}

function scaleOf(scale: Json | undefined): { readonly scale?: ScalePaths } {
  const [spec, status] = [textAt(scale, 'specReplicasPath'), textAt(scale, 'statusReplicasPath')];
  return spec === undefined || status === undefined ? {} : { scale: { spec: spec.slice(1), status: status.slice(1) } };
}
