import { readFileSync } from 'node:fs';
import type { Json } from '../../src/core/json.ts';
import type { ServedResource } from '../../src/core/kinds.ts';
import type { KubernetesObject, ObjectMetadata } from '../../src/core/objects.ts';
import type { Model } from '../../src/model/model.ts';
import { parseModel } from '../../src/model/model-document.ts';

/** The committed model of the built-in kinds. */
export function loadBaseline(): Model {
  return parseModel(JSON.parse(readFileSync(new URL('../../schema/kubernetes.json', import.meta.url), 'utf8')));
}

/** Returns how a cluster serves a built-in kind of the baseline. */
export function servedAs(model: Model, key: string, overrides: Partial<ServedResource> = {}): ServedResource {
  const kind = model.kinds.get(key);
  if (kind === undefined) throw new Error(`no kind ${key}`);
  const [version = 'v1'] = kind.versions;
  const { group, versions, plural, singular, namespaced, shortNames, categories } = kind;
  const names = { group, kind: kind.kind, resource: plural, singular, namespaced, shortNames, categories };
  return { ...names, version, versions, verbs: ['get', 'list', 'watch'], ...overrides };
}

/** Describes how a cluster serves CustomResourceDefinitions. */
export const definitionsServed: ServedResource = {
  group: 'apiextensions.k8s.io',
  kind: 'CustomResourceDefinition',
  version: 'v1',
  versions: ['v1'],
  resource: 'customresourcedefinitions',
  singular: 'customresourcedefinition',
  namespaced: false,
  verbs: ['get', 'list', 'watch'],
  shortNames: [],
  categories: [],
};

let uids = 0;

/** Makes an object with its own uid and version. Like items of a list it has no `apiVersion` and no `kind`. */
export function objectNamed(
  name: string,
  metadata: Partial<ObjectMetadata> = {},
  rest: Readonly<Record<string, Json>> = {},
): KubernetesObject {
  uids++;
  return { metadata: { name, uid: `uid-${uids}`, resourceVersion: String(uids), ...metadata }, ...rest };
}
