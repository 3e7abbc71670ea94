import { hasRolloutStatus, type RolloutState, rolloutOf } from '../propagate/rollout/rolled-out.ts';
import type { GraphBuilder } from './builder.ts';

/** Adds `Rollout`, and `rollout` to the kinds that have one: Deployment, StatefulSet, DaemonSet. */
export function addRollouts({ pothos, model, kinds }: GraphBuilder): void {
  const having = [...model.kinds.values()].filter(hasRolloutStatus);
  if (having.length === 0) return;
  const rollout = pothos.objectRef<RolloutState>('Rollout').implement({
    description: 'How far a workload has come to be what its spec says, as `kubectl rollout status` decides.',
    fields: (t) => ({
      done: t.boolean({ nullable: false, description: 'It is there.', resolve: ({ phase }) => phase === 'done' }),
      message: t.exposeString('message', { nullable: false, description: 'What is missing, or what stopped it.' }),
    }),
  });
  for (const kind of having) {
    const type = kinds.get(kind.type);
    if (type === undefined) continue;
    pothos.objectField(type, 'rollout', (t) =>
      t.field({ type: rollout, nullable: false, description: 'How far its rollout is.', resolve: ({ object }) => rolloutOf(kind, object) }),
    );
  }
}
