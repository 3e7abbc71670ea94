import type { JsonObject } from '../../../src/core/json.ts';
import type { AdmissionProblem } from '../../../src/importers/karmada/admission/problems.ts';
import { validateOverflowAffinities } from '../../../src/importers/karmada/admission/validate-affinities.ts';
import {
  type ApplicationFailover,
  type ClusterFailover,
  validateApplicationFailover,
  validateClusterFailover,
} from '../../../src/importers/karmada/admission/validate-failover.ts';
import { emptyOverriders, validateOverrideSpec } from '../../../src/importers/karmada/admission/validate-overrides.ts';
import {
  type CheckedPropagation,
  validateClusterTolerations,
  validatePlacement,
  validatePropagationSpec,
} from '../../../src/importers/karmada/admission/validate-propagation.ts';
import { PolicyFinder } from '../../../src/importers/karmada/claims.ts';
import { defaultDivisionPreference, defaultSpreadConstraints } from '../../../src/importers/karmada/policies/policy-defaults.ts';
import type { PropagationPolicy } from '../../../src/importers/karmada/policies/read-policies.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { keyOfManifest } from '../../../src/manifests/object-key.ts';
import type { ClusterAffinityTerm } from '../../../src/propagate/karmada/karmada-placement.ts';
import type { OverridePolicySpec } from '../../../src/propagate/karmada/override-policies.ts';
import { isDynamicDivided } from '../../../src/propagate/karmada/replica-scheduling.ts';
import { type ImplicitPriority, preparedSelectors } from '../../../src/propagate/karmada/resource-selector.ts';
import { sameAnswer, structVectorOp, type VectorOp, type VectorOps } from './vector.ts';

/** Creates an operation that answers whether a policy is valid. The number of errors is compared only if the expectation has one. */
function admission<Input>(validate: (input: Input) => readonly AdmissionProblem[]): VectorOp {
  const answerOf = (input: Input): JsonObject => {
    const { length: errorCount } = validate(input);
    return { valid: errorCount === 0, errorCount };
  };
  return structVectorOp(answerOf, (got, expected) => sameAnswer(got, { ...Object(got), ...Object(expected) }));
}

interface NamespacedSpec<Spec> {
  readonly namespace?: string;
  readonly spec?: Spec;
}

type Selector = PropagationPolicy['spec']['resourceSelectors'][number];

interface SeveralSelectors {
  readonly resource?: Partial<Manifest>;
  readonly selectors?: readonly Partial<Selector>[];
}

interface OneSelector extends Pick<SeveralSelectors, 'resource'> {
  readonly selector?: Partial<Selector>;
}

/** Returns the resource with the empty text for each name that it does not have. */
function resourceOf({ resource }: SeveralSelectors): Manifest {
  return { apiVersion: '', kind: '', ...resource, metadata: { name: '', ...resource?.metadata } };
}

function selectorsOf({ selectors = [] }: SeveralSelectors): readonly Selector[] {
  return selectors.map((selector) => ({ apiVersion: '', kind: '', ...selector }));
}

function priorityOf(input: SeveralSelectors): ImplicitPriority {
  return preparedSelectors(selectorsOf(input))(resourceOf(input));
}

function matchesOf(input: SeveralSelectors): JsonObject {
  return { matches: priorityOf(input) !== 'MisMatch' };
}

function withList({ resource, selector = {} }: OneSelector): SeveralSelectors {
  return { ...(resource === undefined ? {} : { resource }), selectors: [selector] };
}

interface VectorPolicy {
  readonly name?: string;
  readonly namespace?: string;
  readonly priority?: number;
  readonly resourceSelectors?: SeveralSelectors['selectors'];
}

/** Answers with the name of the policy that the importer chooses for the resource. */
function highestPriorityPolicy({ policies = [], ...input }: SeveralSelectors & { readonly policies?: readonly VectorPolicy[] }) {
  const accepted = policies.map(({ name = '', namespace, priority = 0, resourceSelectors: selectors = [] }) => {
    const document = { index: 0, path: '[0]', key: { apiVersion: '', kind: '', name }, object: {} };
    const resourceSelectors = selectorsOf({ selectors });
    const spec = { resourceSelectors, priority, preemption: 'Never', conflictResolution: 'Abort', schedulerName: '' } as const;
    const scope = namespace === undefined ? {} : { namespace };
    return { document, name, ...scope, spec, priorityOf: preparedSelectors(resourceSelectors), notes: [] };
  });
  const resource = resourceOf(input);
  const document = { index: 1, path: '[1]', key: keyOfManifest(resource), object: resource };
  const choice = new PolicyFinder(accepted, { isLiving: false }).policyFor({ document, manifest: resource });
  return { policy: choice?.winner.name ?? null };
}

/** Which policy claims a resource, and which policies Karmada's admission accepts. */
export const karmadaPolicyVectors: VectorOps = {
  'karmada-resource-selector': {
    resourceMatches: structVectorOp((input: OneSelector) => matchesOf(withList(input))),
    matchSelectors: structVectorOp(matchesOf),
    selectorPriority: structVectorOp((input: OneSelector) => ({ priority: priorityOf(withList(input)) })),
    selectorsPriority: structVectorOp((input: SeveralSelectors) => ({ priority: priorityOf(input) })),
    highestPriorityPolicy: structVectorOp(highestPriorityPolicy),
  },
  'karmada-validation': {
    overrideSpec: admission(({ spec = {}, namespace }: NamespacedSpec<OverridePolicySpec>) => validateOverrideSpec(spec, namespace)),
    propagationSpec: admission(({ spec = {}, namespace }: NamespacedSpec<CheckedPropagation>) => validatePropagationSpec(spec, namespace)),
    placement: admission(({ placement = {} }: { readonly placement?: NonNullable<CheckedPropagation['placement']> }) =>
      validatePlacement(placement, 'placement'),
    ),
    overflowAffinities: admission(({ affinity = {} }: { readonly affinity?: ClusterAffinityTerm }) =>
      validateOverflowAffinities(affinity, 'affinity'),
    ),
    clusterTolerations: admission(({ tolerations }: { readonly tolerations?: Parameters<typeof validateClusterTolerations>[0] }) =>
      validateClusterTolerations(tolerations, 'tolerations'),
    ),
    applicationFailover: admission(({ application }: { readonly application?: ApplicationFailover }) =>
      validateApplicationFailover(application, 'application'),
    ),
    clusterFailover: admission(({ cluster }: { readonly cluster?: ClusterFailover }) => validateClusterFailover(cluster, 'cluster')),
    emptyOverriders: structVectorOp(emptyOverriders),
    defaultSpreadConstraints: structVectorOp(defaultSpreadConstraints),
    defaultDivisionPreference: structVectorOp(defaultDivisionPreference),
    isDynamicDivided: structVectorOp(isDynamicDivided),
  },
};
