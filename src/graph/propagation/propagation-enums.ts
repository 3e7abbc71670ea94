import type { GraphBuilder } from '../builder.ts';
import { enumsOf } from '../faults.ts';

/** The enums that tell how a propagation does. */
export type PropagationEnums = ReturnType<typeof addPropagationEnums>;

/** Adds the enums of `Propagation`. */
export function addPropagationEnums({ pothos }: GraphBuilder) {
  const make = enumsOf(pothos);
  return {
    phase: make(
      'PropagationPhase',
      'What a propagation is in: the first of these that holds, from DELETING on as the description of each says.',
      {
        PLANNING: 'This generation has no plan yet.',
        ROLLING: 'Copies are being written, or are not well yet.',
        PAUSED: 'Nothing new begins: somebody paused it, or more clusters failed than may.',
        HELD: 'Somebody must decide: a prune to confirm, a plan that no longer holds, no room to surge.',
        ROLLING_BACK: 'Clusters go back to what they had.',
        SETTLED: 'Every copy is as it should be, and well.',
        DEGRADED: 'A copy failed, is not well or unknown, or replicas have no place.',
        FAILED: 'It was refused, has no plan, or was rolled back.',
        SUSPENDED: 'It is held still by its spec.',
        DELETING: 'It goes, and so do its copies.',
      },
    ),
    copy: make('CopyPhase', 'What the copies in one cluster are in.', {
      WAITING: 'Their turn has not come.',
      APPLYING: 'They are being written.',
      PROGRESSING: 'They are written, and not rolled out yet.',
      SOAKING: 'They are well, and must stay so for a while.',
      SETTLED: 'They are as they should be, and well.',
      FAILED: 'See `reason`.',
      DENIED: 'The cluster does not allow it.',
      ROLLING_BACK: 'They go back to what they were.',
      DRAINING: 'They go once others are well.',
      DELETING: 'They go.',
      UNKNOWN: 'Nobody can tell: what is shown is the last known.',
    }),
    inventory: make('InventoryState', 'What a copy is to us.', {
      INTENDED: 'About to be made.',
      OWNED: 'Ours: its uid is the proof.',
      SHARED: 'Somebody else’s, with fields of ours.',
      DELETING: 'It goes; others have to let it.',
      PENDING_DELETION: 'It has to go, and its cluster cannot be reached.',
    }),
    health: make('Health', 'How something does.', {
      HEALTHY: 'It is well.',
      UNHEALTHY: 'It is not.',
      UNKNOWN: 'Nobody can tell.',
    }),
    result: make('PropagationResult', 'What became of a mutation.', {
      ACCEPTED: 'It is recorded, and will be done.',
      UNCHANGED: 'It is so already.',
      PLAN_STALE: 'The digest is of another plan: see `plan`. Nothing was written.',
      REFUSED: 'See `notes`. Nothing was written.',
      NOT_FOUND: 'There is no such propagation.',
    }),
  };
}
