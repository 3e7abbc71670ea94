import type { GraphBuilder } from '../builder/builder.ts';
import { enumsOf } from '../builder/pothos.ts';

/** Adds `Where`, `OrderBy` and `Direction`. */
export function addQueryInputs({ pothos, types }: GraphBuilder): void {
  const direction = enumsOf(pothos)('Direction', 'The direction of an order. Objects without a value come last in both directions.', {
    ASC: 'The smallest values come first.',
    DESC: 'The largest values come first.',
  });
  types.orderBy.implement({
    description: 'A path by which a list is ordered, and the direction.',
    fields: (t) => ({
      path: t.string({
        required: true,
        description: 'The path to the value, such as `metadata.creationTimestamp`, `cluster.name` or `node.metadata.name`.',
      }),
      direction: t.field({ type: direction, defaultValue: 'ASC', description: 'The direction of the order.' }),
    }),
  });
  types.where.implement({
    description:
      'A filter. An object matches if every member of the filter holds. `path` follows the fields of this schema, such as `spec.replicas`, ' +
      '`metadata.labels["a.b/c"]` or `cluster.region`. It may continue from a Pod to its Node (`node.ready`), and from any object to `kind`, ' +
      '`apiVersion` and `metadata` of its owner (`owner.kind`), but not in streams. A path through a list matches if any element matches. ' +
      'At most 100 conditions, 1,000 values of `in` and 16 levels.',
    fields: (t) => ({
      path: t.string({
        description:
          'The path to the value that the other members are compared with. A name in brackets is a key of a map: `["cpuCores"]` is that ' +
          'key, `.cpuCores` the field.',
      }),
      eq: t.field({ type: 'JSON', description: 'The value equals this one.' }),
      ne: t.field({ type: 'JSON', description: 'The value differs from this one, or is absent.' }),
      in: t.field({ type: ['JSON'], description: 'The value equals one of these.' }),
      lt: t.field({ type: 'JSON', description: 'The value is less than this one.' }),
      lte: t.field({ type: 'JSON', description: 'The value is less than this one, or equal.' }),
      gt: t.field({ type: 'JSON', description: 'The value is greater than this one.' }),
      gte: t.field({ type: 'JSON', description: 'The value is greater than this one, or equal.' }),
      contains: t.string({ description: 'The value is a text that contains this text.' }),
      startsWith: t.string({ description: 'The value is a text that begins with this text.' }),
      exists: t.boolean({
        description: 'True: a value exists. False: no value exists. An empty list counts as no value, except in a field of type JSON.',
      }),
      some: t.field({
        type: types.where,
        description:
          'At least one element of the list matches this filter. Its paths begin at the element. Without a path, it is about the element itself.',
      }),
      and: t.field({ type: [types.where], description: 'Every filter of this list matches.' }),
      or: t.field({ type: [types.where], description: 'At least one filter of this list matches.' }),
      not: t.field({ type: types.where, description: 'This filter does not match.' }),
    }),
  });
}
