import { list, printDocument, readDocument, structure, translated } from '../../core/json/documents.ts';
import type { JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import type { PropagationStatus } from '../propagation.ts';
import { maxClusters } from './cluster-sets.ts';
import { completionMode } from './definition.ts';
import { health, recordedFault } from './inventory.ts';
import {
  anyJson,
  anyObject,
  anyText,
  choice,
  clusterText,
  count,
  flag,
  integer,
  keyFields,
  message,
  time,
  withKey,
  word,
} from './values.ts';

const generation = integer(0, Number.MAX_SAFE_INTEGER);
/** Maximum number of lines. A cluster that is no longer chosen has a line too, as long as it holds copies. */
const maxLines = 2 * maxClusters;

/** The phases of a Propagation. `status/summarize.ts` checks them in its own order, from `Deleting` on. The first that applies is the phase. */
export const propagationPhase = choice(
  'PropagationPhase',
  'The phase of a propagation: the first of these that holds, from DELETING on as the description of each says.',
  {
    Planning: 'This generation has no plan yet.',
    Rolling: 'Copies are being written, or are not healthy yet.',
    Paused: 'No further cluster is changed: a user paused the rollout, or too many clusters have failed.',
    Held: 'A user must decide: a prune to confirm, a plan that no longer holds, no room to surge.',
    RollingBack: 'Clusters get back what they had.',
    Settled: 'Every copy is as it should be, and healthy.',
    Degraded: 'A copy failed, is unhealthy or unknown, or replicas have no place.',
    Failed: 'It was refused, has no plan, or was rolled back.',
    Suspended: 'Its spec suspends it.',
    Deleting: 'It is being deleted, and its copies with it.',
  },
);

/** The phases of the copies in one cluster. */
const copyPhase = choice('CopyPhase', 'The phase of the copies in one cluster.', {
  Waiting: 'The wave of the cluster has not begun.',
  Applying: 'The copies are being written.',
  Progressing: 'The copies are written, and not rolled out yet.',
  Soaking: 'The copies are healthy, and must stay so for a while.',
  Settled: 'The copies are as they should be, and healthy.',
  Failed: 'The copies could not be written or became unhealthy: see `reason`.',
  Denied: 'The cluster does not allow the write.',
  RollingBack: 'The copies get back what they were.',
  Draining: 'The copies are deleted as soon as others are healthy.',
  Deleting: 'The copies are being deleted.',
  Unknown: 'The copies cannot be seen: the last known values are shown.',
});

const reason = word([
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

/** The progress of a rollout. */
export const progress = structure({
  wave: count.describe('The current wave, from 0.'),
  waves: count.describe('The number of waves.'),
  clusters: count.describe('The number of chosen clusters.'),
  done: count.describe('The number of clusters that are done.'),
  failed: count.describe('The number of clusters that failed.'),
  since: time.exactOptional().describe('Since when the rollout waits, or too many clusters have failed.'),
  nextCheckAt: time.exactOptional().describe('When a soak or a deadline ends.'),
});

const rollout = structure({
  phase: word(['Progressing', 'Succeeded', 'Failed', 'TimedOut']).describe(
    'How far the rollout has come. Succeeded stays until another generation begins.',
  ),
  since: time.describe('When the rollout came there.'),
  wanted: anyText.exactOptional().describe('A hash of what was wanted. The phase counts only while that is still wanted.'),
});

/** The status of one cluster. */
export const line = structure({
  cluster: clusterText.describe('The cluster.'),
  phase: copyPhase.describe('The phase of its copies.'),
  reason: reason.exactOptional().describe('Why the copies are in that phase, as one word.'),
  message: message.exactOptional().describe('The same for people. Without values of manifests.'),
  wave: count.exactOptional().describe('The wave of the cluster, from 0.'),
  late: flag.exactOptional().describe('True: the cluster joined after the generation was decided. It comes after all waves.'),
  replicas: count.exactOptional().describe('The replicas that the cluster is to have.'),
  ready: count.exactOptional().describe('How many of them are ready.'),
  health: health.describe('The health of its copies.'),
  since: time.describe('Since when the copies are in that phase.'),
  asOf: time.exactOptional().describe('The time of the last known state.'),
  fault: recordedFault.exactOptional().describe('What the cluster could not do.'),
  generation: generation.exactOptional().describe('The generation of the copies. Absent before the first.'),
  rollout: rollout
    .exactOptional()
    .describe('How far that generation has come in this cluster. It stays while the cluster cannot be reached.'),
});

const condition = structure({
  type: word(['Accepted', 'Planned', 'Applied', 'Healthy', 'Complete', 'Progressing', 'Fresh', 'Led']).describe(
    'The type of the condition.',
  ),
  status: word(['True', 'False', 'Unknown']).describe('Whether the condition holds.'),
  reason: anyText.describe('Why, as one word.'),
  message: message.describe('Why, for people. Names the clusters that are the reason.'),
  lastTransitionTime: time.describe('When the status changed.'),
  observedGeneration: generation.exactOptional().describe('The generation that the condition is about.'),
});

const aggregated = translated(
  structure({
    ...keyFields,
    status: anyObject.describe('The status that one object would have: numbers are sums.'),
    observed: flag.describe('True: every copy is counted, and none is stale.'),
    health: health.describe('The health of the copies.'),
    conditions: list(
      structure({ cluster: clusterText.describe('The cluster.'), condition: anyJson.describe('The condition, as the copy has it.') }),
      { max: 20 * maxLines },
    ).describe('The conditions of the copies.'),
  }),
  {
    decode(flat) {
      const [key, rest] = withKey(flat);
      return { key, ...rest };
    },
    encode: ({ key, ...rest }) => ({ ...key, ...rest }),
  },
);

/** Whether Jobs in many clusters are complete together. */
export const completion = structure({
  mode: completionMode.describe('How complete clusters are counted.'),
  needed: count.describe('How many clusters must be complete.'),
  complete: count.describe('How many clusters are complete.'),
  failed: count.describe('How many clusters failed.'),
  done: flag.describe('True: enough clusters are complete. It stays true.'),
});

const prune = structure({
  digest: anyText.describe('A hash of these deletions. As annotation `muster.dev/confirm-prune` it confirms exactly them.'),
  since: time.describe('Since when they wait.'),
  objects: count.describe('How many objects would be deleted.'),
  clusters: list(structure({ cluster: clusterText.describe('The cluster.'), digest: anyText.describe('A hash of the deletions in it.') }), {
    max: maxLines,
  }).describe('The clusters, by name.'),
});

const asked = structure({
  digest: anyText.describe('The digest of the plan.'),
  generation: generation.describe('The generation that came with it. No later one must be that plan.'),
});

const note = structure({
  severity: anyText.describe('INFO, WARNING or ERROR.'),
  code: anyText.describe('One word for machines.'),
  message: message.describe('What was expected, and what came.'),
  path: anyText.exactOptional().describe('The field of the spec.'),
});

/** `status` of a Propagation (docs/internals/propagation.md 2.2). Times are RFC 3339. */
export const status = structure({
  observedGeneration: generation.exactOptional().describe('The generation that the other fields are about.'),
  revision: generation.exactOptional().describe('The revision of that generation.'),
  digest: anyText.exactOptional().describe('The digest of the plan that is followed.'),
  scheduledAt: time.exactOptional().describe('When clusters and replicas were last decided from zero.'),
  affinityGroup: anyText.exactOptional().describe('The affinity group in use.'),
  phase: propagationPhase.exactOptional().describe('The phase of the Propagation.'),
  paused: flag.exactOptional().describe('True: no further cluster is changed until it is resumed.'),
  progress: progress.exactOptional().describe('How far the rollout has come.'),
  mostObjects: count
    .exactOptional()
    .describe(
      'The largest number of copies since this generation was decided, or since a prune was confirmed. Later deletions are compared with it.',
    ),
  desired: count.exactOptional().describe('The replicas that are wanted. Absent without a workload.'),
  placed: count.exactOptional().describe('The replicas that clusters were given.'),
  unplaced: count.exactOptional().describe('The replicas that no cluster takes.'),
  ready: count.exactOptional().describe('The replicas that are ready.'),
  unknown: list(clusterText, { max: maxLines }).exactOptional().describe('The clusters whose copies cannot be seen.'),
  clusters: list(line, { max: maxLines })
    .exactOptional()
    .describe('Each cluster that is chosen or still holds copies, by name. The copies are in its ClusterShare.'),
  conditions: list(condition, { max: 20 })
    .exactOptional()
    .describe('The conditions. Their messages name the clusters that are the reason.'),
  aggregate: list(aggregated, { max: 200 }).exactOptional().describe('One status over all clusters for each object of the template.'),
  completion: completion.exactOptional().describe('Whether Jobs in many clusters are complete together.'),
  prune: prune.exactOptional().describe('Deletions that wait to be confirmed, or that were confirmed and are under way.'),
  asked: asked.exactOptional().describe('The plan that was last asked for by its digest.'),
  notes: list(note, { max: 1_000 }).exactOptional().describe('The notes of the last plan, or of a spec that was refused.'),
});

/** Reads the status of a document. Leaves out members that cannot be read, because the next status replaces them anyway. */
export function parseStatus(document: JsonObject): PropagationStatus {
  const read = readDocument(status, document);
  if ('value' in read) return read.value;
  const wrong = new Set(read.problems.map(({ path }) => /^[^.[]*/.exec(path)?.[0]));
  const rest = Object.entries(document).filter(([name]) => !wrong.has(name));
  return rest.length < Object.keys(document).length ? parseStatus(Object.fromEntries(rest)) : {};
}

/** Prints a status as a document. */
export function printStatus(of: PropagationStatus): JsonObject {
  return objectAt({ status: printDocument(status, of) }, 'status');
}
