import { describe, expect, test } from 'vitest';
import { type Json, parseJsonExactly } from '../../../src/core/json.ts';
import { keyOfKind } from '../../../src/core/kinds.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { columnsOf } from '../../../src/model/columns/columns.ts';
import { resourceFieldNames } from '../../../src/model/reserved-names.ts';
import { loadBaseline } from '../../support/kubernetes-objects.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { podIn, podStates } from './pod-states.ts';

const model = loadBaseline();
const kinds = [...model.kinds.values()].map((kind) => ({ kind, columns: columnsOf(kind) })).filter(({ columns }) => columns.length > 0);

test('these kinds have columns', () => {
  expect(kinds.map(({ kind }) => keyOfKind(kind)).toSorted()).toEqual(
    ['ConfigMap', 'DaemonSet.apps', 'Deployment.apps', 'Event', 'Job.batch', 'Node', 'Pod', 'StatefulSet.apps'].toSorted(),
  );
});

test.each(kinds.map((one) => [keyOfKind(one.kind), one] as const))('no field of %s hides behind a column', (_, { kind, columns }) => {
  const own = model.types.get(kind.type)?.fields.map(({ name }) => name) ?? [];
  const names = columns.map(({ name }) => name);
  expect(names.filter((name) => own.includes(name) || resourceFieldNames.has(name) || name === 'cluster')).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
});

test('a kind of another group has no columns, whatever it is called', () => {
  for (const kind of ['Pod', 'Job', 'Deployment', 'Event']) expect(columnsOf({ group: 'example.com', kind })).toEqual([]);
  expect(columnsOf({ group: '', kind: 'Secret' })).toEqual([]);
});

test('an enum of a column has every value that the column gives', () => {
  const values = kinds.flatMap(({ columns }) =>
    columns.flatMap(({ enumeration }) => (enumeration ? [Object.keys(enumeration.values)] : [])),
  );
  expect(values).toEqual([['COMPLETE', 'FAILED', 'TERMINATING', 'SUSPENDED', 'FAILURE_TARGET', 'RUNNING']]);
});

describe('malformed objects throw no error, and have the columns that are never null:', () => {
  const strange = ['null', '7', '"x"', '[]', '[null]', '[7]', '{}', '-1', '9007199254740993', 'true', '[{"name":7}]', '{"a":null}'];
  const bare: readonly string[] = strange.flatMap((value) => [`{"metadata":{"name":"a"},"spec":${value},"status":${value}}`]);
  const changed = [...changes(podStates.map((state) => podIn(state)))];

  test.each(kinds.map((one) => [keyOfKind(one.kind), one.columns] as const))('%s', (_, columns) => {
    for (const object of [...bare.map((text) => parseJsonExactly(text) as KubernetesObject), ...changed]) {
      for (const column of columns) {
        const value = column.get(object);
        const told = `${column.name} of ${JSON.stringify(object)}`;
        if (!column.nullable) expect(value ?? null, told).not.toBeNull();
        if ('scalar' in column.type && value !== undefined) expect(typeof value, told).toBe(typeOf[column.type.scalar]);
        if (column.name === 'restarts') expect(Math.abs(value as number), told).toBeLessThanOrEqual(2 ** 31);
      }
    }
  });

  /** Copies of the objects in which one value, at any place, is replaced. */
  function* changes(objects: readonly KubernetesObject[]): Iterable<KubernetesObject> {
    const random = seededRandom(7);
    for (const object of objects) {
      for (let time = 0; time < 60; time++) {
        const other = parseJsonExactly(strange[Math.floor(random() * strange.length)] ?? 'null');
        yield {
          metadata: object.metadata,
          ...(changedIn({ spec: object.spec, status: object.status }, other, random) as object),
        } as KubernetesObject;
      }
    }
  }
});

const typeOf: Readonly<Record<string, string>> = { String: 'string', DateTime: 'string', Int: 'number', Boolean: 'boolean' };

function changedIn(value: Json | undefined, other: Json, random: () => number): Json | undefined {
  if (typeof value !== 'object' || value === null || random() < 0.15) return other;
  const keys = Object.keys(value);
  const at = keys[Math.floor(random() * keys.length)];
  if (at === undefined) return other;
  if (Array.isArray(value))
    return value.map((element: Json, index) => (String(index) === at ? (changedIn(element, other, random) ?? null) : element));
  return { ...value, [at]: changedIn((value as Record<string, Json>)[at], other, random) };
}
