import type { ExactSpec, SourceSystem } from '../../model/spec.ts';
import { musterOverrideRules, type OverrideRules } from '../overrides/override-rules.ts';
import { karmadaOverrideRules } from './override-as-karmada.ts';
import { kubeFedOverrideRules } from './override-as-kubefed.ts';

/** The steps of a plan that differ between Muster and the systems that `exact` can name. */
export interface SystemRules {
  readonly overrides: OverrideRules;
}

/** Returns the rules of the system that `exact` names. Without `exact`: the rules of Muster. */
export function rulesOf(exact: ExactSpec | undefined): SystemRules {
  return exact === undefined ? musterRules : rulesBySystem[exact.system];
}

const musterRules: SystemRules = { overrides: musterOverrideRules };

const rulesBySystem: Readonly<Record<SourceSystem, SystemRules>> = {
  Karmada: { overrides: karmadaOverrideRules },
  Kubefed: { overrides: kubeFedOverrideRules },
  FederationV1: musterRules,
  MultiClusterResource: musterRules,
};
