import type { Json } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { Model, ModelKind, ScalarName, TypeReference } from '../../../src/model/model.ts';

/** A path of a kind to a scalar value, in names of GraphQL, with its value. */
export interface Leaf {
  readonly path: string;
  /** The GraphQL selection for the path: the same names, nested. */
  readonly names: readonly string[];
  /** The key in a map, if the value at the path is a map. */
  readonly mapKey?: string;
}

/** An object with a value at every path of the model, and these paths. */
export interface Sample {
  readonly object: KubernetesObject;
  readonly leaves: readonly Leaf[];
}

/** Makes a sample. In samples of one kind each value grows with the rank, 0 to 8. */
export function sampleOf(model: Model, kind: ModelKind, rank: number): Sample {
  const leaves: Leaf[] = [];
  const object = { metadata: { name: `sample-${rank}`, namespace: 'samples', uid: `u${rank}`, resourceVersion: String(rank) } };
  const fields = fill(type(model, kind.type), []);
  return { object: { ...object, ...fields }, leaves };

  function fill(
    { fields }: { readonly fields: readonly { readonly name: string; readonly key: string; readonly type: TypeReference }[] },
    names: readonly string[],
  ) {
    return Object.fromEntries(fields.map((field) => [field.key, value(field.type, [...names, field.name])]));
  }

  function value(reference: TypeReference, names: readonly string[]): Json {
    if ('list' in reference) return [value(reference.list, names)];
    if ('scalar' in reference) {
      const inMap = reference.scalar === 'StringMap';
      leaves.push(inMap ? { path: `${names.join('.')}.key`, names, mapKey: 'key' } : { path: names.join('.'), names });
      return scalarOf(reference.scalar, rank);
    }
    if (reference.type !== 'ResourceList') return fill(type(model, reference.type), names);
    leaves.push({ path: `${names.join('.')}.cpu`, names: [...names, 'cpu'] });
    return { cpu: scalarOf('Quantity', rank) };
  }
}

function type(model: Model, name: string) {
  const found = model.types.get(name);
  if (found !== undefined) return found;
  if (name === 'OwnerReference' || name === 'ObjectMeta')
    return { name, fields: [{ name: 'name', key: 'name', type: { scalar: 'String' } }] } as const;
  throw new Error(`no type ${name}`);
}

function scalarOf(scalar: ScalarName, rank: number): Json {
  switch (scalar) {
    case 'Int':
    case 'Int64':
    case 'IntOrString':
      return rank;
    case 'Float':
      return rank + 0.5;
    case 'Boolean':
      return rank > 0;
    case 'DateTime':
      return `2026-01-0${rank + 1}T00:00:00Z`;
    case 'Duration':
      return `${rank + 1}m`;
    case 'Quantity':
      return `${rank + 1}00m`;
    case 'StringMap':
      return { key: `text-${rank}` };
    case 'Bytes':
      return Buffer.from(String(rank)).toString('base64');
    case 'String':
    case 'JSON':
      return `text-${rank}`;
    default:
      throw new Error(`no sample of ${scalar satisfies never}`);
  }
}
