import type { JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import type {
  AggregatedStatus,
  AskedPlan,
  ClusterLine,
  CompletionStatus,
  HeldPrune,
  PropagationStatus,
  RolloutProgress,
  SpecProblem,
  StatusCondition,
} from '../propagation.ts';
import { maxClusters } from '../spec/cluster-sets.ts';
import { anyJson, anyObject, type Codec, choice, list, mapped, optional, record, required } from '../spec/codec.ts';
import { keyFields, withKey } from '../spec/flat-key.ts';
import { anyText, clusterText, flag, integer, message, time } from '../spec/texts.ts';
import { health, recordedFault } from './fault-codec.ts';

const count = integer(0);
const maxGeneration = integer(0, Number.MAX_SAFE_INTEGER);
/** Clusters that left stand beside those that came. */
const maxLines = 2 * maxClusters;

const progress: Codec<RolloutProgress> = record({
  wave: required(count),
  waves: required(count),
  clusters: required(count),
  done: required(count),
  failed: required(count),
  since: optional(time),
  nextCheckAt: optional(time),
});

const phase = choice(['Planning', 'Rolling', 'Paused', 'Held', 'RollingBack', 'Settled', 'Degraded', 'Failed', 'Suspended', 'Deleting']);

const copyPhase = choice([
  'Waiting',
  'Applying',
  'Progressing',
  'Soaking',
  'Settled',
  'Failed',
  'Denied',
  'RollingBack',
  'Draining',
  'Deleting',
  'Unknown',
]);

const reason = choice([
  'Wave',
  'Suspended',
  'Conflict',
  'Denied',
  'Unreachable',
  'Invalid',
  'Immutable',
  'Quota',
  'ApiMissing',
  'NamespaceMissing',
  'Terminating',
  'TimedOut',
  'Unhealthy',
  'PruneHeld',
  'SurgeHeld',
  'ForeignFinalizer',
  'Contended',
  'Stale',
]);

const line: Codec<ClusterLine> = record({
  cluster: required(clusterText),
  phase: required(copyPhase),
  reason: optional(reason),
  message: optional(message),
  wave: optional(count),
  late: optional(flag),
  replicas: optional(count),
  ready: optional(count),
  health: required(health),
  since: required(time),
  asOf: optional(time),
  fault: optional(recordedFault),
  generation: optional(maxGeneration),
  rollout: optional(
    record({
      phase: required(choice(['Progressing', 'Succeeded', 'Failed', 'TimedOut'])),
      since: required(time),
      wanted: optional(anyText),
    }),
  ),
});

const condition: Codec<StatusCondition> = record({
  type: required(choice(['Accepted', 'Planned', 'Applied', 'Healthy', 'Complete', 'Progressing', 'Fresh', 'Led'])),
  status: required(choice(['True', 'False', 'Unknown'])),
  reason: required(anyText),
  message: required(message),
  lastTransitionTime: required(time),
  observedGeneration: optional(maxGeneration),
});

const aggregated: Codec<AggregatedStatus> = mapped(
  record({
    ...keyFields,
    status: required(anyObject),
    observed: required(flag),
    health: required(health),
    conditions: required(list(record({ cluster: required(clusterText), condition: required(anyJson) }), { max: 20 * maxLines })),
  }),
  {
    to(flat): AggregatedStatus {
      const [key, rest] = withKey(flat);
      return { key, ...rest };
    },
    from: ({ key, ...rest }) => ({ ...key, ...rest }),
  },
);

const completion: Codec<CompletionStatus> = record({
  mode: required(choice(['Any', 'All', 'Count'])),
  needed: required(count),
  complete: required(count),
  failed: required(count),
  done: required(flag),
});

const prune: Codec<HeldPrune> = record({
  digest: required(anyText),
  since: required(time),
  objects: required(count),
  clusters: required(list(record({ cluster: required(clusterText), digest: required(anyText) }), { max: maxLines })),
});

const asked: Codec<AskedPlan> = record({ digest: required(anyText), generation: required(maxGeneration) });

const note = record({ severity: required(anyText), code: required(anyText), message: required(message), path: optional(anyText) });

/** `status` of a Propagation (propagation.md 2.2), all of it. */
export const status: Codec<PropagationStatus> = record({
  observedGeneration: optional(maxGeneration),
  revision: optional(maxGeneration),
  digest: optional(anyText),
  scheduledAt: optional(time),
  affinityGroup: optional(anyText),
  phase: optional(phase),
  paused: optional(flag),
  progress: optional(progress),
  mostObjects: optional(count),
  desired: optional(count),
  placed: optional(count),
  unplaced: optional(count),
  ready: optional(count),
  unknown: optional(list(clusterText, { max: maxLines })),
  clusters: optional(list(line, { max: maxLines })),
  conditions: optional(list(condition, { max: 20 })),
  aggregate: optional(list(aggregated, { max: 200 })),
  completion: optional(completion),
  prune: optional(prune),
  asked: optional(asked),
  notes: optional(list(note, { max: 1_000 })),
});

/** The status that a document says. A member that says something else is left out: the next status is written over it. */
export function parseStatus(document: JsonObject): PropagationStatus {
  const problems: SpecProblem[] = [];
  const read = status.read(document, { path: '', problems });
  if (read !== undefined) return read;
  const wrong = new Set(problems.map(({ path }) => /^[^.[]*/.exec(path)?.[0]));
  const rest = Object.entries(document).filter(([name]) => !wrong.has(name));
  return rest.length < Object.keys(document).length ? parseStatus(Object.fromEntries(rest)) : {};
}

/** The document of a status. */
export function printStatus(of: PropagationStatus): JsonObject {
  return objectAt({ status: status.print(of) }, 'status');
}
