import { MusterError } from '../../../src/core/errors.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { textAt } from '../../../src/core/json-at.ts';
import { type GroupKind, groupOfApiVersion } from '../../../src/core/kinds.ts';
import { aggregateStatus } from '../../../src/propagate/status/aggregate.ts';
import { jobEndOf } from '../../../src/propagate/status/aggregate-job.ts';
import { collectStatus } from '../../../src/propagate/status/collect.ts';
import { healthOf } from '../../../src/propagate/status/health.ts';
import { ingressPoints, joinPoints, servicePoints } from '../../../src/propagate/status/join-points.ts';
import type { StatusItem } from '../../../src/propagate/status/status-item.ts';
import { templateGenerationOf } from './karmada/template-generation.ts';
import { type VectorOps, vectorOp } from './vector.ts';

/** Objects of these files may lack their apiVersion; the kind says enough. */
const groups: Readonly<Record<string, string>> = {
  Deployment: 'apps',
  StatefulSet: 'apps',
  ReplicaSet: 'apps',
  DaemonSet: 'apps',
  Job: 'batch',
  CronJob: 'batch',
  Ingress: 'networking.k8s.io',
  PodDisruptionBudget: 'policy',
  HorizontalPodAutoscaler: 'autoscaling',
};

function kindOf(kind: string): GroupKind {
  return { group: groups[kind] ?? '', kind };
}

function collect(kind: GroupKind) {
  return vectorOp(({ object }: { readonly object: JsonObject }) => {
    const collected = collectStatus(kind, object, () => templateGenerationOf(object));
    if (collected.result === 'unreadable') throw new MusterError('BAD_INPUT', collected.message);
    return { status: collected.status };
  });
}

const collected = ['Deployment', 'StatefulSet', 'ReplicaSet', 'DaemonSet', 'Job', 'Service', 'Ingress'];
const more = ['PodDisruptionBudget', 'HorizontalPodAutoscaler'];

/** Condition times are not compared: nothing here knows the clock. */
const aggregate = vectorOp(
  ({ object, items }: { readonly object: JsonObject; readonly items: readonly StatusItem[] }) => {
    const kind = { group: groupOfApiVersion(textAt(object, 'apiVersion') ?? ''), kind: textAt(object, 'kind') ?? '' };
    return { status: aggregateStatus({ kind, template: object, items, semantics: 'karmada' }) };
  },
  { ignored: ['lastProbeTime', 'lastTransitionTime'] },
);

/** Operations that collect and combine the status of copies. Each op has its function and the comparison of its answers. */
export const statusVectors: VectorOps = {
  'karmada-status-reflect': {
    ...Object.fromEntries([...collected, ...more].map((kind) => [`reflect${kind}Status`, collect(kindOf(kind))])),
    reflectWholeStatus: collect({ group: 'example.com', kind: 'Widget' }),
  },
  'karmada-status-aggregate': {
    aggregateStatus: aggregate,
    jobFinished: vectorOp(({ status }: { readonly status: JsonObject }) => {
      const condition = jobEndOf(status);
      return { finished: condition !== undefined, condition };
    }),
    dedupeServiceIngress: vectorOp(({ ingresses }: { readonly ingresses: readonly JsonObject[] }) => ({
      ingresses: joinPoints(ingresses, servicePoints),
    })),
    dedupeIngressIngress: vectorOp(({ ingresses }: { readonly ingresses: readonly JsonObject[] }) => ({
      ingresses: joinPoints(ingresses, ingressPoints),
    })),
    fullyApplied: vectorOp(
      ({ aggregatedStatus, targetClusters }: { readonly aggregatedStatus?: AppliedItem[]; readonly targetClusters?: string[] }) => ({
        fullyApplied: isFullyApplied(aggregatedStatus ?? [], targetClusters ?? []),
      }),
    ),
  },
  'karmada-status-aggregate-executed': { '': aggregate, aggregateStatus: aggregate },
  'karmada-health': {
    health: vectorOp(({ kind, object }: { readonly kind: string; readonly object: JsonObject }) => ({
      healthy: healthOf(kindOf(kind), object) === 'Healthy',
    })),
  },
};

interface AppliedItem {
  readonly clusterName: string;
  readonly applied?: boolean;
}

/** True if there are targets and exactly these clusters are applied. */
function isFullyApplied(items: readonly AppliedItem[], targets: readonly string[]): boolean {
  const wanted = new Set(targets);
  const isWanted = ({ clusterName, applied }: AppliedItem) => applied === true && wanted.has(clusterName);
  return wanted.size > 0 && items.length === wanted.size && items.every(isWanted);
}
