import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import { listAt, objectAt, textAt } from '../../../src/core/json-at.ts';
import { structuralSchemaOf } from '../../../src/propagate/hub/custom-resource.ts';
import { parseSpec } from '../../../src/propagate/model/spec.ts';
import { spec } from '../../../src/propagate/model/spec-definition.ts';

const word = fc.constantFrom('a', 'bb', 'web', 'north', 'x-1');
const key = fc.constantFrom('app', 'example.com/app');
const cluster = fc.constantFrom('north', 'south', 'arn:aws:eks/Prod · ∞');
const time = fc.constantFrom('2026-01-31T12:00:00Z', '2026-01-31T12:00:00.5+02:00');
const yaml = fc.constant(
  '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: b}}\n',
);
const byPattern: Readonly<Record<string, fc.Arbitrary<string>>> = {
  '^([0-9]+(ms|s|m|h))+$': fc.constantFrom('0s', '90s', '10m', '1h30m', '250ms', '2h', '60m'),
  '^(/([^~/]|~[01])*)*$': fc.constantFrom('', '/spec/replicas', '/metadata/labels/example.com~1a', '/a~0b/0/-'),
};

const manifest: JsonObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' }, data: { a: '1' } };

const expression = fc.oneof(
  fc.record({ key, operator: fc.constantFrom('In', 'NotIn'), values: fc.array(word, { minLength: 1, maxLength: 3 }) }),
  fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);

/** Values that the schema of the resource allows, field by field. */
function jsonOf(schema: JsonObject): fc.Arbitrary<Json> {
  if (schema['x-kubernetes-int-or-string'] === true) {
    const [rule = null] = listAt(schema, 'x-kubernetes-validations');
    return fc.oneof(fc.integer({ min: textAt(rule, 'rule')?.includes('self >= 1') ? 1 : 0, max: 9 }), fc.constantFrom('1%', '25%', '100%'));
  }
  switch (schema.type) {
    case 'string':
      return textOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: Math.max(Number(schema.minimum), -5), max: Math.min(Number(schema.maximum), 20) });
    case 'array': {
      const least = Number(schema.minItems ?? 0);
      return fc.array(jsonOf(objectAt(schema, 'items')), { minLength: least, maxLength: least + 2 });
    }
    case 'object':
      return objectOf(schema);
    default:
      return fc.oneof(fc.integer(), word, fc.constantFrom<Json>([1, null], { a: null }));
  }
}

function textOf({ enum: values, pattern, format, maxLength, minLength }: JsonObject): fc.Arbitrary<string> {
  if (Array.isArray(values)) return fc.constantFrom(...values.map(String));
  if (pattern !== undefined) return byPattern[String(pattern)] ?? fc.constant('a pattern that this file does not know');
  if (format === 'date-time') return time;
  if (maxLength === 1_500_000) return yaml;
  return maxLength === 317 ? key : minLength === 1 ? cluster : word;
}

function objectOf(schema: JsonObject): fc.Arbitrary<Json> {
  const map = schema.additionalProperties;
  if (isJsonObject(map))
    return map.type === 'array'
      ? fc.dictionary(word, fc.array(word, { maxLength: 2 }), { maxKeys: 2 })
      : fc.dictionary(key, word, { maxKeys: 2 });
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) {
    return fc.constantFrom<Json>(
      manifest,
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } },
      { a: null, b: [1, 'x', { c: true }] },
    );
  }
  if (schema['x-kubernetes-map-type'] === 'atomic') {
    const matchExpressions = fc.array(expression, { maxLength: 3 });
    return fc.record({ matchLabels: fc.dictionary(key, word, { maxKeys: 2 }), matchExpressions }, { requiredKeys: [] });
  }
  const fields = Object.entries(objectAt(schema, 'properties')).map(([name, field]) => [name, jsonOf(field as JsonObject)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: listAt(schema, 'required').map(String) });
}

/** Documents with random fields of a spec. Each field is valid, but rules between several fields may be broken. */
export const anyDocument: fc.Arbitrary<JsonObject> = jsonOf(structuralSchemaOf(spec)).filter(isJsonObject);

/** Valid documents of a spec: members with problems were removed until none was left. */
export const rightDocument: fc.Arbitrary<JsonObject> = anyDocument.map(repaired);

function repaired(document: JsonObject): JsonObject {
  let right: Json = { template: [{ json: manifest }], ...document };
  for (let round = 0; round < 200; round++) {
    const read = parseSpec(isJsonObject(right) ? right : {});
    if (!('problems' in read)) break;
    const [first] = read.problems;
    const keys = [...(first?.path ?? '').matchAll(/[^.[\]]+/g)].map(([key]) => key);
    // A missing member cannot be removed, so the structure around it is removed.
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
