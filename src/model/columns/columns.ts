import { hasTrueCondition } from '../../core/conditions.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { rollout } from '../hand-written-types.ts';
import type { TypeReference } from '../model.ts';
import { lastSeenOf } from './event-time.ts';
import { jobPhaseMeanings, phaseOfJob } from './job-phase.ts';
import { podRequestsOf } from './pod-requests.ts';
import { lastRestartOfPod, phaseOfPod, readyOfPod, restartsOfPod } from './pod-status.ts';
import { workloadRolloutOf } from './rollout.ts';

/**
 * A computed field of a kind. It is a field in GraphQL, a possible beginning of paths in filters, orders, groups and sums, and an entry of `kinds
 * { columns }`.
 */
export interface Column {
  readonly name: string;
  /** The type of the value, by which values are compared. `String` for an enum. */
  readonly type: TypeReference;
  /** Set if the values are those of an enum of the schema. */
  readonly enumeration?: ColumnEnum;
  /** True if an object may have no value. */
  readonly nullable: boolean;
  readonly description: string;
  /** Computes the value as JSON of `type`. Undefined without a value. A pure function that never throws, whatever the object contains. */
  get(object: KubernetesObject): Json | undefined;
}

export interface ColumnEnum {
  /** The name of the enum in the schema. */
  readonly name: string;
  readonly description: string;
  /** The meaning of each value, in the order of the schema. */
  readonly values: Readonly<Record<string, string>>;
}

/** Returns the columns of a kind, in the order in which people read them. Kinds that Kubernetes does not define have none. */
export function columnsOf(kind: GroupKind): readonly Column[] {
  return registry.get(keyOfKind(kind)) ?? [];
}

const podColumns: readonly Column[] = [
  {
    name: 'phase',
    type: { scalar: 'String' },
    nullable: false,
    description: 'The status of the Pod as kubectl prints it under STATUS, such as `Running`, `Init:0/2` or `CrashLoopBackOff`.',
    get: phaseOfPod,
  },
  {
    name: 'ready',
    type: { scalar: 'String' },
    nullable: false,
    description: 'The number of ready containers and the number of all containers, such as `1/2`.',
    get: readyOfPod,
  },
  {
    name: 'restarts',
    type: { scalar: 'Int' },
    nullable: false,
    description: 'The number of restarts of the containers, as kubectl counts them.',
    get: restartsOfPod,
  },
  {
    name: 'lastRestart',
    type: { scalar: 'DateTime' },
    nullable: true,
    description: 'The time of the last restart of a container. Null if there was none.',
    get: lastRestartOfPod,
  },
  {
    name: 'requests',
    type: { type: 'ResourceList' },
    nullable: false,
    description: 'The resources that the Pod requests from its Node. Init containers, sidecars and overhead count as in the scheduler.',
    get: podRequestsOf,
  },
];

const jobColumns: readonly Column[] = [
  {
    name: 'phase',
    type: { scalar: 'String' },
    enumeration: {
      name: 'JobPhase',
      description: 'The phase of a Job, as kubectl prints it: the first of these values that applies.',
      values: jobPhaseMeanings,
    },
    nullable: false,
    description: 'The phase of the Job.',
    get: phaseOfJob,
  },
];

const nodeColumns: readonly Column[] = [
  {
    name: 'ready',
    type: { scalar: 'Boolean' },
    nullable: false,
    description: 'True if the Node reports that it is ready for Pods. False also if the Node no longer reports.',
    get: (node) => hasTrueCondition(node, 'Ready'),
  },
];

const configMapColumns: readonly Column[] = [
  {
    name: 'dataCount',
    type: { scalar: 'Int' },
    nullable: false,
    description: 'The number of keys in `data` and `binaryData`.',
    get: (configMap) => [configMap.data, configMap.binaryData].filter(isJsonObject).flatMap(Object.keys).length,
  },
];

const eventColumns: readonly Column[] = [
  {
    name: 'lastSeen',
    type: { scalar: 'DateTime' },
    nullable: true,
    description: 'The time at which the event last occurred, as kubectl prints it. An event without such a time has its creation time.',
    get: lastSeenOf,
  },
];

const registry: ReadonlyMap<string, readonly Column[]> = new Map([
  ['Pod', podColumns],
  ['Node', nodeColumns],
  ['Job.batch', jobColumns],
  ...['Deployment', 'StatefulSet', 'DaemonSet'].map((kind) => [`${kind}.apps`, [rolloutColumn({ group: 'apps', kind })]] as const),
  ['ConfigMap', configMapColumns],
  ['Event', eventColumns],
]);

function rolloutColumn(kind: GroupKind): Column {
  return {
    name: 'rollout',
    type: { type: rollout.name },
    nullable: true,
    description: 'The progress of the rollout, as `kubectl rollout status` reports it.',
    get(object) {
      const found = workloadRolloutOf(kind, object);
      return found === undefined ? undefined : { done: found.phase === 'done', message: found.kubectlText };
    },
  };
}
