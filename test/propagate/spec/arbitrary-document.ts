import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import { parseSpec } from '../../../src/propagate/spec/parse-spec.ts';
import type { Shape, TextFormat } from '../../../src/propagate/spec/shape.ts';
import { spec } from '../../../src/propagate/spec/spec-codec.ts';

const word = fc.constantFrom('a', 'bb', 'web', 'north', 'x-1');

const texts: Readonly<Record<TextFormat | 'any', fc.Arbitrary<string>>> = {
  any: word,
  duration: fc.constantFrom('0s', '90s', '10m', '1h30m', '250ms', '2h', '60m'),
  time: fc.constantFrom('2026-01-31T12:00:00Z', '2026-01-31T12:00:00.5+02:00'),
  pointer: fc.constantFrom('', '/spec/replicas', '/metadata/labels/example.com~1a', '/a~0b/0/-'),
  key: fc.constantFrom('app', 'example.com/app'),
  name: word,
  cluster: fc.constantFrom('north', 'south', 'arn:aws:eks/Prod · ∞'),
  manifests: fc.constant(
    '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: b}}\n',
  ),
};

const manifest: JsonObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' }, data: { a: '1' } };

const expression = fc.oneof(
  fc.record({ key: texts.key, operator: fc.constantFrom('In', 'NotIn'), values: fc.array(word, { minLength: 1, maxLength: 3 }) }),
  fc.record({ key: texts.key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);

function jsonOf(shape: Shape): fc.Arbitrary<Json> {
  switch (shape.type) {
    case 'text':
      return texts[shape.format ?? 'any'];
    case 'flag':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: Math.max(shape.min, -5), max: Math.min(shape.max, 20) });
    case 'amount':
      return fc.oneof(fc.integer({ min: shape.min, max: 9 }), fc.constantFrom('1%', '25%', '100%'));
    case 'choice':
      return fc.constantFrom(...shape.values);
    case 'selector':
      return fc.record(
        { matchLabels: fc.dictionary(texts.key, word, { maxKeys: 2 }), matchExpressions: fc.array(expression, { maxLength: 3 }) },
        { requiredKeys: [] },
      );
    case 'map':
      return fc.dictionary(texts.key, word, { maxKeys: 2 });
    case 'lists':
      return fc.dictionary(word, fc.array(word, { maxLength: 2 }), { maxKeys: 2 });
    case 'object':
      return fc.constantFrom<Json>(
        manifest,
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } },
        { a: null, b: [1, 'x', { c: true }] },
      );
    case 'json':
      return fc.oneof(fc.integer(), word, fc.constantFrom<Json>([1, null], { a: null }));
    case 'list':
      return fc.array(jsonOf(shape.of), { minLength: shape.min, maxLength: shape.min + 2 });
    case 'record': {
      const fields = Object.entries(shape.fields);
      return fc.record(Object.fromEntries(fields.map(([name, field]) => [name, jsonOf(field.shape)])), {
        requiredKeys: fields.filter(([, field]) => field.presence === 'required').map(([name]) => name),
      });
    }
    default:
      return shape satisfies never;
  }
}

/** Documents with every field that a spec may have, right but for what no single field can tell. */
export const anyDocument: fc.Arbitrary<JsonObject> = jsonOf(spec.shape).filter(isJsonObject);

/** Documents that say a spec: what is wrong with them was taken out, piece by piece. */
export const rightDocument: fc.Arbitrary<JsonObject> = anyDocument.map(repaired);

function repaired(document: JsonObject): JsonObject {
  let right: Json = { template: [{ json: manifest }], ...document };
  for (let round = 0; round < 200; round++) {
    const read = parseSpec(isJsonObject(right) ? right : {});
    if (!('problems' in read)) break;
    const [first] = read.problems;
    const keys = [...(first?.path ?? '').matchAll(/[^.[\]]+/g)].map(([key]) => key);
    // What is missing cannot be taken out: what it is missing in can.
    while (keys.length > 0 && !stands(right, keys)) keys.pop();
    right = without(right, keys);
    if (isJsonObject(right)) right = { ...right, template: nonEmpty(right.template), placement: right.placement ?? {} };
  }
  return isJsonObject(right) ? right : {};
}

function stands(value: Json | undefined, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return value !== undefined;
  if (Array.isArray(value)) return stands(value[Number(key)], rest);
  return isJsonObject(value) && stands(value[key], rest);
}

function nonEmpty(template: Json | undefined): Json {
  return Array.isArray(template) && template.length > 0 ? template : [{ json: manifest }];
}

function without(value: Json, [key, ...rest]: readonly string[]): Json {
  if (key === undefined) return value;
  if (Array.isArray(value)) {
    const at = Number(key);
    return value.flatMap((member: Json, index) => (index !== at ? [member] : rest.length === 0 ? [] : [without(member, rest)]));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      name !== key ? [[name, member]] : rest.length === 0 ? [] : [[name, without(member ?? null, rest)]],
    ),
  );
}
