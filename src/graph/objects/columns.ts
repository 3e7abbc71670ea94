import { MusterError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { keyOfKind } from '../../core/kinds.ts';
import { objectResolver, valueResolver } from '../../execution/known-resolvers.ts';
import type { Row } from '../../load/reads/reads.ts';
import { type Column, type ColumnEnum, columnsOf } from '../../model/columns/columns.ts';
import { rollout, rollout as rolloutType } from '../../model/hand-written-types.ts';
import type { TypeReference } from '../../model/model.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import { type AnyOutput, enumsOf, type ObjectRefOf } from '../builder/pothos.ts';

/** The enums of columns, by name. */
export type ColumnEnums = ReadonlyMap<string, ReturnType<typeof addEnum>>;

/**
 * Adds the computed columns as fields of their kinds, with their types. If only the metadata of an object is known, nullable columns are null
 * and the others are `BAD_INPUT`.
 */
export function addColumns(builder: GraphBuilder): ColumnEnums {
  const { pothos, model, kinds } = builder;
  const enums = new Map<string, ReturnType<typeof addEnum>>();
  const rollouts = addRollouts(builder);
  const outputOf = (reference: TypeReference): AnyOutput =>
    'type' in reference && reference.type === rollout.name ? rollouts : builder.outputOf(reference);
  for (const kind of model.kinds.values()) {
    const type = kinds.get(kind.type);
    if (type === undefined) continue;
    for (const column of columnsOf(kind)) {
      const { name, description, nullable, enumeration } = column;
      const resolve = objectResolver((row: Row) => valueIn(column, row));
      const known = enumeration && (enums.get(enumeration.name) ?? addEnum(builder, enumeration));
      if (known !== undefined && enumeration !== undefined) enums.set(enumeration.name, known);
      const output: AnyOutput = known ?? outputOf(column.type);
      pothos.objectField(type, name, (t) => t.field({ type: output, nullable, description, resolve }));
    }
  }
  return enums;
}

/**
 * Returns the value of a column. If only the metadata of the object is known, there is nothing to compute it from: a nullable column is null.
 *
 * @throws {MusterError} `BAD_INPUT` for a column that is never null, if only the metadata is known.
 */
function valueIn({ name, nullable, get }: Column, { kind, object, metadataOnly }: Row): Json | undefined {
  if (metadataOnly !== true) return get(object);
  if (nullable) return undefined;
  const held = `expected fields other than ${name} of ${keyOfKind(kind)}: only its metadata is mirrored`;
  throw new MusterError('BAD_INPUT', `${held}; ${kind.one} with live: true returns it`);
}

function addEnum({ pothos }: GraphBuilder, { name, description, values }: ColumnEnum) {
  return enumsOf(pothos)(name, description, values);
}

/** The value of the column `rollout`. */
interface RolloutView {
  readonly done: boolean;
  readonly message: string;
}

/**
 * Adds `Rollout`, and the field `rollout` to `PodOwner`, so that a query can select it for all workloads. It is null for kinds without `kubectl
 * rollout status`.
 */
function addRollouts({ pothos, types }: GraphBuilder): ObjectRefOf<RolloutView> {
  const rollout = pothos.objectRef<RolloutView>(rolloutType.name).implement({
    description: 'The progress of the rollout of a workload, as `kubectl rollout status` reports it.',
    fields: (t) => ({
      done: t.exposeBoolean('done', { nullable: false, description: 'True if the rollout is complete.' }),
      message: t.exposeString('message', {
        nullable: false,
        description: 'The work that is left, or the reason why the rollout stopped, in the words of kubectl.',
      }),
    }),
  });
  pothos.interfaceField(types.podOwner, 'rollout', (t) =>
    t.field({
      type: rollout,
      description: 'The progress of the rollout. Null for kinds without a `kubectl rollout status`.',
      resolve: valueResolver(() => null),
    }),
  );
  return rollout;
}
