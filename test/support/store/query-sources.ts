import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { Model, ModelField, ModelKind, ModelType, ScalarName, TypeReference } from '../../../src/model/model.ts';
import { createStore } from '../../../src/store/contents/store.ts';
import type { MirrorStore } from '../../../src/store/mirror-store.ts';
import type { ClusterAttributes, QuerySource } from '../../../src/store/query-source.ts';
import { createManualClock } from '../manual-clock.ts';
import { exactly, listInto, parseObject, versionOf } from './store-objects.ts';

const scalar = (name: ScalarName): TypeReference => ({ scalar: name });
const fieldsOf = (types: Readonly<Record<string, TypeReference>>): readonly ModelField[] =>
  Object.entries(types).map(([name, type]) => ({ name, key: name, type }));

const types: readonly ModelType[] = [
  { name: 'ExampleSample', fields: fieldsOf({ spec: { type: 'ExampleSpec' }, status: scalar('JSON') }) },
  { name: 'ExampleOther', fields: fieldsOf({ spec: { type: 'ExampleOtherSpec' } }) },
  { name: 'ExampleOtherSpec', fields: fieldsOf({ text: scalar('JSON'), only: scalar('String') }) },
  {
    name: 'ExampleSpec',
    fields: fieldsOf({
      text: scalar('String'),
      flag: scalar('Boolean'),
      count: scalar('Int'),
      big: scalar('Int64'),
      ratio: scalar('Float'),
      at: scalar('DateTime'),
      blob: scalar('Bytes'),
      amount: scalar('Quantity'),
      wait: scalar('Duration'),
      port: scalar('IntOrString'),
      tags: scalar('StringMap'),
      any: scalar('JSON'),
      limits: { type: 'ResourceList' },
      names: { list: scalar('String') },
      nodeName: scalar('String'),
      parts: { list: { type: 'ExamplePart' } },
      one: { type: 'ExamplePart' },
    }),
  },
  {
    name: 'ExamplePart',
    fields: fieldsOf({
      name: scalar('String'),
      size: scalar('Int64'),
      zones: { list: scalar('String') },
      amount: scalar('Quantity'),
      any: scalar('JSON'),
    }),
  },
];

const kindOf = (kind: string, type: string): ModelKind => ({
  group: 'example.com',
  kind,
  versions: ['v1'],
  plural: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
  shortNames: [],
  categories: [],
  namespaced: true,
  source: 'CUSTOM',
  type,
  many: `${type.charAt(0).toLowerCase()}${type.slice(1)}s`,
  one: `${type.charAt(0).toLowerCase()}${type.slice(1)}`,
  conflicts: [],
});

/** A kind with a field of every type. */
export const sample: ModelKind = kindOf('Sample', 'ExampleSample');
/** Another kind. It has `spec.text` as JSON, and `spec.only`, and no other field of `Sample`. */
export const other: ModelKind = kindOf('Other', 'ExampleOther');

export const smallModel: Model = {
  types: new Map(types.map((type) => [type.name, type])),
  kinds: new Map([sample, other].map((kind) => [`${kind.kind}.${kind.group}`, kind])),
};

export interface SourceSketch {
  readonly cluster?: string;
  readonly facts?: Partial<ClusterAttributes>;
  readonly kind?: ModelKind;
  readonly objects?: readonly KubernetesObject[];
  readonly visibility?: readonly string[];
}

/** Makes a source over its own store. The test may write to the store. */
export function sourceOf({
  cluster = 'north',
  facts = {},
  kind = sample,
  objects = [],
  visibility,
}: SourceSketch): QuerySource & { readonly store: MirrorStore } {
  const store = createStore({ epoch: 'e', clock: createManualClock() });
  listInto(store, objects);
  return {
    cluster: { name: cluster, labels: {}, phase: 'SYNCED', ...facts },
    kind,
    apiVersion: 'example.com/v1',
    store,
    visibility: visibility === undefined ? { type: 'all' } : { type: 'namespaces', namespaces: new Set(visibility) },
  };
}

/** Makes a source with the objects `default/s0`, `s1` … and these specs. The specs are JSON text, so that integers stay exact. */
export function sourceOfSpecs(...specs: readonly string[]): QuerySource {
  const source = sourceOf({});
  for (const [index, spec] of specs.entries()) {
    const text = `{"metadata":{"name":"s${index}","namespace":"default","uid":"u${index}"},"spec":${spec}}`;
    source.store.applied(parseObject(text), versionOf(index + 1), exactly(text));
  }
  return source;
}
