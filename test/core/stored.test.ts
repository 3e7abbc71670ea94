import type { V1JSONSchemaProps, V1NetworkPolicyIngressRule, V1Pod } from '@kubernetes/client-node';
import { expect, expectTypeOf, test } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json.ts';
import type { TypedObject } from '../../src/core/objects.ts';
import { itemsOf, numberOrZero, type Stored, textOrUndefined, textsOf } from '../../src/core/stored.ts';

test('a stored model has the fields of the wire, all optional, with times as text', () => {
  expectTypeOf<NonNullable<Stored<V1Pod>['status']>['startTime']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<keyof Stored<V1NetworkPolicyIngressRule>>().toEqualTypeOf<'from' | 'ports'>();
  expectTypeOf<Stored<V1JSONSchemaProps>['enum']>().toEqualTypeOf<readonly Json[] | undefined>();
  expectTypeOf<Stored<V1JSONSchemaProps>['x-kubernetes-list-map-keys']>().toEqualTypeOf<readonly string[] | undefined>();
  expectTypeOf<TypedObject<V1Pod>['metadata']['name']>().toEqualTypeOf<string>();
});

test('any object can be read as a stored model, and a stored model is an object', () => {
  expectTypeOf<JsonObject>().toExtend<Stored<V1Pod>>();
  expectTypeOf<Stored<V1Pod>>().toExtend<JsonObject>();
});

test('a value of another type reads as absent', () => {
  const strange = { items: [null, 'x', [], 3, { name: 'a' }], texts: ['a', 7, null], other: { length: 1 } } as Record<string, unknown>;
  expect(itemsOf(strange.items as { readonly name: string }[])).toEqual([{ name: 'a' }]);
  expect(itemsOf(strange.other as [])).toEqual([]);
  expect(textsOf(strange.texts as string[])).toEqual(['a']);
  expect(textsOf(strange.other as [])).toEqual([]);
  expect([numberOrZero(strange.items as number), textOrUndefined(strange.items as string)]).toEqual([0, undefined]);
});
