import type { GraphBuilder } from './builder.ts';
import { enumsOf } from './faults.ts';

/** Adds `Where`, `OrderBy` and `Direction`. */
export function addQueryInputs({ pothos, types }: GraphBuilder): void {
  const direction = enumsOf(pothos)('Direction', 'Which end comes first. What lacks a value comes last either way.', {
    ASC: 'The smallest first.',
    DESC: 'The largest first.',
  });
  types.orderBy.implement({
    description: 'What a list is ordered by.',
    fields: (t) => ({
      path: t.string({ required: true, description: 'Such as `metadata.creationTimestamp`, `cluster.name` or `node.metadata.name`.' }),
      direction: t.field({ type: direction, defaultValue: 'ASC', description: 'Which end comes first.' }),
    }),
  });
  types.where.implement({
    description:
      'A filter. All that one level says must hold. `path` goes through the fields of this schema: `spec.replicas`, `metadata.labels["a.b/c"]`, ' +
      '`cluster.region`; of Pods on to their Node (`node.ready`), of anything on to `kind`, `apiVersion` and `metadata` of its owner (`owner.kind`), ' +
      'but not in streams; through a list it matches if any element does. At most 100 conditions, 1,000 values of `in`, and 16 levels.',
    fields: (t) => ({
      path: t.string({
        description:
          'What the other members of this level are about. In brackets stands the key of a map itself: `["cpuCores"]` is that key, `.cpuCores` the field.',
      }),
      eq: t.field({ type: 'JSON', description: 'Equal to this.' }),
      ne: t.field({ type: 'JSON', description: 'Not equal to this, or absent.' }),
      in: t.field({ type: ['JSON'], description: 'Equal to one of these.' }),
      lt: t.field({ type: 'JSON', description: 'Less than this.' }),
      lte: t.field({ type: 'JSON', description: 'Less than this, or equal.' }),
      gt: t.field({ type: 'JSON', description: 'Greater than this.' }),
      gte: t.field({ type: 'JSON', description: 'Greater than this, or equal.' }),
      contains: t.string({ description: 'A text that has this in it.' }),
      startsWith: t.string({ description: 'A text that begins with this.' }),
      exists: t.boolean({
        description: 'True: there is a value. False: there is none. A list without elements has no value, except in a field of type JSON.',
      }),
      some: t.field({
        type: types.where,
        description:
          'One element of the list is all of this: its paths begin at the element; without a path it is about the element itself.',
      }),
      and: t.field({ type: [types.where], description: 'All of these.' }),
      or: t.field({ type: [types.where], description: 'At least one of these.' }),
      not: t.field({ type: types.where, description: 'Not this.' }),
    }),
  });
}
