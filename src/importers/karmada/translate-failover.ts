import type { V1Toleration } from '@kubernetes/client-node';
import type { ClusterTaint } from '../../changes/members.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Stored } from '../../core/stored.ts';
import { parsePreservedPath } from '../../propagate/model/failover-definition.ts';
import { tolerates, tolerationIn } from '../../propagate/plan/placing/tolerations.ts';
import type { PropagationPolicy } from './policies/read-policies.ts';
import type { PartScope } from './translate-sets.ts';

type PolicyFailover = NonNullable<PropagationPolicy['spec']['failover']>;
type PreservationRules = NonNullable<NonNullable<PolicyFailover['cluster']>['statePreservation']>['rules'];

/**
 * Translates `failover` of a policy. Undefined if it has neither `application` nor `cluster`.
 *
 * With `cluster`, copies leave a cluster that does not answer. Karmada taints such a cluster, so the policy's tolerations give the time after
 * which the copies leave. A Propagation has one purge mode and one list of preserved labels. If the policy has both `application` and
 * `cluster`, `application` gives them. A note has the times, and says that Karmada moves no copies before an operator has enabled its feature
 * gate.
 */
export function translateFailover({ spec }: PropagationPolicy, scope: PartScope): JsonObject | undefined {
  const { application, cluster } = spec.failover ?? {};
  const part = application ?? cluster;
  if (part === undefined) return undefined;
  const { path, addNote } = scope;
  const unhealthySeconds = application?.decisionConditions.tolerationSeconds;
  const outageSeconds = cluster === undefined ? undefined : toleratedOutageSeconds(spec.placement?.clusterTolerations ?? []);
  const stays = 'no copies from a cluster that does not answer, because the policy tolerates its taints without a limit';
  const outage = outageSeconds === undefined ? stays : `copies from a cluster that has not answered for ${outageSeconds} s`;
  const moves = [
    ...(unhealthySeconds === undefined ? [] : [`copies that have been unhealthy for ${unhealthySeconds} s`]),
    ...(cluster === undefined ? [] : [outage]),
  ];
  const message = `Karmada moves copies only if an operator has enabled its feature gate. Muster has no gate. It moves ${moves.join(', and ')}`;
  addNote({ severity: 'INFO', code: 'FAILOVER_GATE', message, path });
  if (application !== undefined && cluster !== undefined) {
    const lost = 'a Propagation has one purge mode and one list of preserved labels: those of failover.application are used';
    addNote({ severity: 'WARNING', code: 'DROPPED', message: lost, path: `${path}.cluster` });
  }
  const member = application === undefined ? 'cluster' : 'application';
  const preserve = preserveOf(part.statePreservation?.rules ?? [], { ...scope, path: `${path}.${member}.statePreservation.rules` });
  const grace = application?.purgeMode === 'Gracefully' ? application.gracePeriodSeconds : undefined;
  return {
    ...(outageSeconds === undefined ? {} : { after: `${outageSeconds}s` }),
    ...(unhealthySeconds === undefined ? {} : { unhealthyAfter: `${unhealthySeconds}s` }),
    purge: part.purgeMode,
    ...(grace === undefined ? {} : { grace: `${grace}s` }),
    ...(preserve.length === 0 ? {} : { preserve }),
  };
}

/** The taints that Karmada gives a cluster that it cannot reach, or that is not ready. */
const outageTaints: readonly ClusterTaint[] = ['cluster.karmada.io/not-ready', 'cluster.karmada.io/unreachable'].map((key) => ({
  key,
  value: '',
  effect: 'NoExecute',
}));

/** The time for which a policy without tolerations of `outageTaints` tolerates them. Up to version 1.13, Karmada's admission adds such tolerations. */
const defaultOutageSeconds = 300;

/** A Propagation has durations of at most 100 years. A longer toleration has no limit in practice. */
const maxOutageSeconds = 100 * 365 * 86_400;

/** Returns the number of seconds for which all of `outageTaints` are tolerated. Undefined: without a limit. */
function toleratedOutageSeconds(tolerations: readonly Stored<V1Toleration>[]): number | undefined {
  const times = outageTaints.map((taint) => {
    const used = tolerations.find((one) => {
      const toleration = tolerationIn(one);
      return toleration !== undefined && tolerates(toleration, taint);
    });
    return used === undefined ? defaultOutageSeconds : (used.tolerationSeconds ?? Number.POSITIVE_INFINITY);
  });
  const seconds = Math.max(0, Math.min(...times));
  return seconds > maxOutageSeconds ? undefined : seconds;
}

/**
 * Translates the rules for preserved labels. A rule with an unsupported path is left out, with a note. Of two rules for one label, the
 * later one counts.
 */
function preserveOf(rules: PreservationRules, { path, addNote }: PartScope): readonly JsonObject[] {
  const found = new Map<string, string>();
  rules.forEach(({ aliasLabelName, jsonPath }, index) => {
    if (parsePreservedPath(jsonPath) !== undefined) found.set(aliasLabelName, jsonPath);
    else
      addNote({
        severity: 'WARNING',
        code: 'DROPPED',
        message: 'expected a path such as {.jobStatus.jobID}',
        path: `${path}[${index}].jsonPath`,
      });
  });
  return [...found].map(([label, jsonPath]) => ({ label, jsonPath }));
}
