import type { z } from 'zod';
import { listSchema, printDocument, readDocument, structureSchema, translatedSchema } from '../../core/json/documents.ts';
import {
  anyJson,
  anyObject,
  anyText,
  clusterText,
  count,
  describedEnum,
  flag,
  integer,
  message,
  textEnum,
  time,
} from '../../core/json/field-definitions.ts';
import type { JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import { maxClusters } from './cluster-set-definition.ts';
import { eviction, preservedIn } from './failover-definition.ts';
import { health, recordedFault } from './inventory-definition.ts';
import { recordedNote } from './note-definition.ts';
import { objectKeyFields, withKey } from './object-key-definition.ts';
import { completionMode } from './spec-definition.ts';

const generation = integer(0, Number.MAX_SAFE_INTEGER);
/** Maximum number of references and dependencies. A template has at most as many objects for one cluster. */
const maxSources = 200;
/** Maximum number of clusters in a status, one line each. A cluster that is no longer chosen has a line too, as long as it holds copies. */
const maxLines = 2 * maxClusters;

/**
 * The phases of a Propagation. `status/summarize.ts` checks them in its own order, from `Deleting` on. The first that applies is the phase.
 */
export const propagationPhase = describedEnum(
  'PropagationPhase',
  'The phase of a Propagation. If several apply, it is the first of: deleting, suspended, planning, rolling back, failed, held, paused, ' +
    'rolling, degraded, settled.',
  {
    Planning: 'The current generation has no plan yet.',
    Rolling: 'Copies are being written or are not healthy yet.',
    Paused: 'No further cluster is changed, because a user paused the rollout or too many clusters have failed.',
    Held: 'A user must decide: deletions wait to be confirmed, the requested plan is out of date, or replacements for removed replicas failed.',
    RollingBack: 'Clusters get their previous state back.',
    Settled: 'Every copy has the planned state and is healthy.',
    Degraded: 'No rollout is running, but a copy has failed, is unhealthy or is unknown, or some replicas have no cluster.',
    Failed: 'The spec was refused or cannot be planned, or too many clusters failed and the rollout was rolled back.',
    Suspended: 'The spec suspends the Propagation.',
    Deleting: 'The Propagation and its copies are being deleted.',
  },
);

/** The phases of the copies in one cluster. */
const copyPhase = describedEnum('CopyPhase', 'The phase of the copies in one cluster.', {
  Waiting: 'The wave of the cluster has not started.',
  Applying: 'The copies are being written.',
  Progressing: 'The copies are written, but not rolled out yet.',
  Soaking: 'The copies are healthy, but not for long enough yet.',
  Settled: 'The copies have the planned state and are healthy.',
  Failed: 'The copies could not be written or became unhealthy: see `reason`.',
  Denied: 'The cluster does not allow the write.',
  RollingBack: 'The copies get their previous state back.',
  Draining: 'The copies will be deleted as soon as their replacements are healthy.',
  Deleting: 'The copies are being deleted.',
  Unknown: 'The copies cannot be read. The last known values are shown.',
});

const reason = textEnum([
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
export const progress = structureSchema({
  wave: count.describe('The index of the current wave, from 0.'),
  waves: count.describe('The number of waves.'),
  clusters: count.describe('The number of chosen clusters.'),
  done: count.describe('The number of clusters that are done.'),
  failed: count.describe('The number of clusters that failed.'),
  since: time.exactOptional().describe('The time since which the rollout waits, or too many clusters have failed. Not set otherwise.'),
  nextCheckAt: time
    .exactOptional()
    .describe('The next time at which the soak or the `deadline` of a cluster ends. Not set if none is running.'),
});

const rollout = structureSchema({
  phase: textEnum(['Progressing', 'Succeeded', 'Failed', 'TimedOut']).describe(
    'The phase of the rollout. Succeeded stays until another generation begins.',
  ),
  since: time.describe('The time at which the rollout entered this phase.'),
  wanted: anyText.exactOptional().describe('A hash of the wanted copies. The phase counts only while these copies are still wanted.'),
});

const taint = structureSchema({
  taint: anyText.describe('The taint, as `key=value:effect`.'),
  since: time.describe('The time since which the cluster has the taint.'),
});

/** The status of one cluster. */
export const line = structureSchema({
  cluster: clusterText.describe('The cluster.'),
  phase: copyPhase.describe('The phase of the copies in the cluster.'),
  reason: reason.exactOptional().describe('The reason for the phase as one word. Not set if the phase needs none.'),
  message: message.exactOptional().describe('The reason for the phase, for people. It contains no values of manifests.'),
  wave: count.exactOptional().describe('The index of the wave of the cluster, from 0.'),
  late: flag.exactOptional().describe('True: the cluster joined after the generation was decided. It comes after all waves.'),
  replicas: count.exactOptional().describe('The number of replicas that the cluster should have. Not set without a workload.'),
  divided: count
    .exactOptional()
    .describe('The number of replicas that the division gave the cluster. Only set if an override replaces that number.'),
  ready: count.exactOptional().describe('The number of ready replicas in the cluster. Not set if no copy reports it.'),
  health: health.describe('The health of the copies in the cluster.'),
  since: time.describe('The time since which the copies are in this phase.'),
  asOf: time.exactOptional().describe('The time of the last known state.'),
  fault: recordedFault.exactOptional().describe('The fault of the cluster. Not set if it has none.'),
  awaySince: time.exactOptional().describe('The time since which the cluster does not answer. Not set if it answers.'),
  unhealthySince: time
    .exactOptional()
    .describe('The time since which a copy is unhealthy that was rolled out before. Not set if the copies are healthy.'),
  taints: listSchema(taint, { max: 100 }).exactOptional().describe('The `NoExecute` taints of the cluster. Not set if it has none.'),
  generation: generation.exactOptional().describe('The generation that was last started in the cluster. Not set before the first one.'),
  rollout: rollout
    .exactOptional()
    .describe('The rollout of that generation in this cluster. It stays while the cluster cannot be reached.'),
});

const condition = structureSchema({
  type: textEnum(['Accepted', 'Planned', 'Applied', 'Healthy', 'Complete', 'Progressing', 'Fresh', 'Led']).describe(
    'The type of the condition.',
  ),
  status: textEnum(['True', 'False', 'Unknown']).describe('Whether the condition holds.'),
  reason: anyText.describe('Why the condition has this status, as one word.'),
  message: message.describe('Why the condition has this status, as a sentence. It names the clusters that are the reason.'),
  lastTransitionTime: time.describe('The time at which the status changed.'),
  observedGeneration: generation.exactOptional().describe('The generation that the condition is about.'),
});

const aggregated = translatedSchema(
  structureSchema({
    ...objectKeyFields,
    status: anyObject.describe('The status that one object would have: numbers are sums.'),
    observed: flag.describe('True: every copy is counted, and none is stale.'),
    health: health.describe('The health of the copies.'),
    conditions: listSchema(
      structureSchema({ cluster: clusterText.describe('The cluster.'), condition: anyJson.describe('The condition, as the copy has it.') }),
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
export const completion = structureSchema({
  mode: completionMode.describe('The clusters that must be complete: all, any one, or a given number of them.'),
  needed: count.describe('The number of clusters that must be complete.'),
  complete: count.describe('The number of clusters in which all Jobs are complete.'),
  failed: count.describe('The number of clusters in which a Job has failed.'),
  done: flag.describe('True if enough clusters are complete. It then stays true.'),
});

const prune = structureSchema({
  digest: anyText.describe(
    'A hash of these deletions. A user writes it to the annotation `muster.dev/confirm-prune` to confirm exactly these deletions.',
  ),
  since: time.describe('The time since which the deletions wait.'),
  objects: count.describe('The number of objects that would be deleted.'),
  clusters: listSchema(
    structureSchema({ cluster: clusterText.describe('The cluster.'), digest: anyText.describe('A hash of the deletions in the cluster.') }),
    {
      max: maxLines,
    },
  ).describe('The clusters, by name.'),
});

const source = translatedSchema(
  structureSchema({
    cluster: clusterText.describe('The cluster from which the object was read.'),
    ...objectKeyFields,
    hash: anyText.describe('A hash of the content. For a Secret, it covers the metadata and the version, and no data.'),
  }),
  {
    decode(flat) {
      const [key, rest] = withKey(flat);
      return { key, ...rest };
    },
    encode: ({ key, ...rest }) => ({ ...key, ...rest }),
  },
);

/** Maximum number of copies in `leftBehind`. Further ones are only counted, in `leftBehindUnrecorded`. */
export const maxLeftBehind = 200;

const copyLeftBehind = translatedSchema(
  structureSchema({
    cluster: clusterText.describe('The cluster of the copy.'),
    ...objectKeyFields,
    uid: anyText.describe('The uid of the copy.'),
  }),
  {
    decode(flat) {
      const [key, rest] = withKey(flat);
      return { key, ...rest };
    },
    encode: ({ key, ...rest }) => ({ ...key, ...rest }),
  },
);

const unrecordedCopies = structureSchema({
  cluster: clusterText.describe('The cluster of the copies.'),
  count: count.describe('The number of released copies that are not in `leftBehind`.'),
});

const asked = structureSchema({
  digest: anyText.describe('The digest of the plan.'),
  generation: generation.describe('The generation in which the digest was first requested. Later generations need not be that plan.'),
});

/** `status` of a Propagation (docs/internals/propagation.md 2.2). Times are RFC 3339. */
export const status = structureSchema({
  observedGeneration: generation.exactOptional().describe('The generation that the other fields are about.'),
  revision: generation.exactOptional().describe('The revision of that generation.'),
  digest: anyText.exactOptional().describe('The digest of the plan that is carried out.'),
  scheduledAt: time.exactOptional().describe('The last time at which all clusters and replicas were decided anew.'),
  affinityGroup: anyText.exactOptional().describe('The affinity group that is used. Not set without affinity groups.'),
  phase: propagationPhase.exactOptional().describe('The phase of the Propagation.'),
  paused: flag.exactOptional().describe('True: no further cluster is changed until the rollout is resumed.'),
  progress: progress.exactOptional().describe('The progress of the rollout.'),
  mostObjects: count
    .exactOptional()
    .describe(
      'The largest number of copies since this generation was decided, or since a prune was confirmed. Later deletions are compared with it.',
    ),
  desired: count
    .exactOptional()
    .describe('The requested number of replicas, with the numbers that overrides set. Not set without a workload.'),
  placed: count.exactOptional().describe('The number of replicas that clusters get. Not set without a workload.'),
  unplaced: count.exactOptional().describe('The number of requested replicas that no cluster gets.'),
  ready: count.exactOptional().describe('The number of ready replicas.'),
  unknown: listSchema(clusterText, { max: maxLines }).exactOptional().describe('The clusters whose copies cannot be read.'),
  clusters: listSchema(line, { max: maxLines })
    .exactOptional()
    .describe('Each cluster that is chosen or still holds copies, by name. The copies are in its ClusterShare.'),
  conditions: listSchema(condition, { max: 20 })
    .exactOptional()
    .describe('The conditions. Their messages name the clusters that are the reason.'),
  aggregate: listSchema(aggregated, { max: 200 }).exactOptional().describe('One status over all clusters for each object of the template.'),
  completion: completion.exactOptional().describe('Whether Jobs in many clusters are complete together.'),
  prune: prune.exactOptional().describe('Deletions that wait to be confirmed, or that were confirmed and are under way.'),
  asked: asked.exactOptional().describe('The plan that was last requested by its digest.'),
  evictions: listSchema(eviction, { max: maxLines })
    .exactOptional()
    .describe('The clusters whose copies must run elsewhere. A cluster stays in the list until it may be chosen again.'),
  preserved: listSchema(preservedIn, { max: maxLines })
    .exactOptional()
    .describe('The labels that copies got from the status of their predecessors in other clusters.'),
  leftBehind: listSchema(copyLeftBehind, { max: maxLeftBehind })
    .exactOptional()
    .describe(
      'The copies that `failover.purge` `Never` releases or has released. A copy stays in the list until it is deleted or managed again.',
    ),
  leftBehindUnrecorded: listSchema(unrecordedCopies, { max: maxLines })
    .exactOptional()
    .describe(
      'The number of copies for which `leftBehind` had no room when `failover.purge` `Never` released them. It stays until the cluster has as many copies again, or until the first new generation without an entry in `leftBehind`.',
    ),
  sources: listSchema(source, { max: maxSources })
    .exactOptional()
    .describe(
      'The references and dependencies as this generation accepted them. Set if the gateway authenticates callers and the requester acts: other content is not written.',
    ),
  notes: listSchema(recordedNote, { max: 1_000 }).exactOptional().describe('The notes of the last plan, or of a spec that was refused.'),
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

/**
 * `status` of a Propagation (docs/internals/propagation.md 2.2). docs/propagation-fields.md describes the fields. A new resource has no
 * status.
 */
export type PropagationStatus = z.output<typeof status>;
