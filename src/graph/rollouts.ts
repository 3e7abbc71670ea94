import { rollout as rolloutType } from '../model/hand-written-types.ts';
import type { GraphBuilder, ObjectRefOf } from './builder.ts';

/** A rollout as the column `rollout` computes it. */
export interface RolloutView {
  readonly done: boolean;
  readonly message: string;
}

/** Adds `Rollout`, and the field to owners of Pods of which kubectl knows none, so that all of them may be asked alike. */
export function addRollouts({ pothos, types }: GraphBuilder): ObjectRefOf<RolloutView> {
  const rollout = pothos.objectRef<RolloutView>(rolloutType.name).implement({
    description: 'How far a workload has come to be what its spec says, as `kubectl rollout status` decides.',
    fields: (t) => ({
      done: t.exposeBoolean('done', { nullable: false, description: 'It is there.' }),
      message: t.exposeString('message', { nullable: false, description: 'What is missing, or what stopped it: in the words of kubectl.' }),
    }),
  });
  pothos.interfaceField(types.podOwner, 'rollout', (t) =>
    t.field({ type: rollout, description: 'How far its rollout is; null where kubectl knows none.', resolve: () => null }),
  );
  return rollout;
}
