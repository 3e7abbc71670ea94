import type { JsonObject } from '../../core/json.ts';
import { parsePreservedPath } from '../../propagate/model/failover-definition.ts';
import type { PropagationPolicy } from './policies/read-policies.ts';
import type { PartScope } from './translate-sets.ts';

type PolicyFailover = NonNullable<PropagationPolicy['spec']['failover']>;
type PreservationRules = NonNullable<NonNullable<PolicyFailover['cluster']>['statePreservation']>['rules'];

/**
 * Translates `failover` of a policy. Undefined if it has neither `application` nor `cluster`.
 *
 * A Propagation has one purge mode and one list of preserved labels. If the policy has both `application` and `cluster`, those of
 * `application` count. A note says that Karmada moves no copies before an operator has enabled its feature gate.
 */
export function translateFailover({ application, cluster }: PolicyFailover, scope: PartScope): JsonObject | undefined {
  const part = application ?? cluster;
  if (part === undefined) return undefined;
  const { path, tell } = scope;
  const message = 'Karmada moves copies only if an operator has enabled its feature gate. Muster moves them in any case';
  tell({ severity: 'INFO', code: 'FAILOVER_GATE', message, path });
  if (application !== undefined && cluster !== undefined) {
    const lost = 'a Propagation has one purge mode and one list of preserved labels: those of failover.application are used';
    tell({ severity: 'WARNING', code: 'DROPPED', message: lost, path: `${path}.cluster` });
  }
  const member = application === undefined ? 'cluster' : 'application';
  const preserve = preserveOf(part.statePreservation?.rules ?? [], { ...scope, path: `${path}.${member}.statePreservation.rules` });
  const grace = application?.purgeMode === 'Gracefully' ? application.gracePeriodSeconds : undefined;
  return {
    ...(application === undefined ? {} : { unhealthyAfter: `${application.decisionConditions.tolerationSeconds}s` }),
    purge: part.purgeMode,
    ...(grace === undefined ? {} : { grace: `${grace}s` }),
    ...(preserve.length === 0 ? {} : { preserve }),
  };
}

/**
 * Translates the rules for preserved labels. A rule with an unsupported path is left out, with a note. Of two rules for one label, the
 * later one counts.
 */
function preserveOf(rules: PreservationRules, { path, tell }: PartScope): readonly JsonObject[] {
  const found = new Map<string, string>();
  rules.forEach(({ aliasLabelName, jsonPath }, index) => {
    if (parsePreservedPath(jsonPath) !== undefined) found.set(aliasLabelName, jsonPath);
    else
      tell({
        severity: 'WARNING',
        code: 'DROPPED',
        message: 'expected a path such as {.jobStatus.jobID}',
        path: `${path}[${index}].jsonPath`,
      });
  });
  return [...found].map(([label, jsonPath]) => ({ label, jsonPath }));
}
