import type { z } from 'zod';
import { structureSchema, translatedSchema } from '../../../core/json/documents.ts';
import { flag, integer, textEnum } from '../../../core/json/field-definitions.ts';
import type { CheckedPlacement } from '../admission/validate-propagation.ts';
import {
  affinityFields,
  clusterAffinity,
  int32,
  int64,
  policyList,
  policyMetadata,
  policyText,
  resourceSelector,
  textList,
} from './field-definitions.ts';

const affinityName = policyText.min(1).max(32);

const toleration = structureSchema({
  key: policyText.exactOptional(),
  operator: policyText.exactOptional(),
  value: policyText.exactOptional(),
  effect: policyText.exactOptional(),
  tolerationSeconds: int64.exactOptional(),
});

const replicaScheduling = structureSchema({
  replicaSchedulingType: textEnum(['Duplicated', 'Divided']).default('Divided'),
  replicaDivisionPreference: textEnum(['Aggregated', 'Weighted']).exactOptional(),
  weightPreference: structureSchema({
    staticWeightList: policyList(structureSchema({ targetCluster: clusterAffinity, weight: integer(1) })).exactOptional(),
    dynamicWeight: textEnum(['AvailableReplicas']).exactOptional(),
  }).exactOptional(),
});

const groupByLabel = structureSchema({ groupByLabelKey: policyText });

const placement = structureSchema({
  clusterAffinity: clusterAffinity.exactOptional(),
  clusterAffinities: policyList(
    structureSchema({
      affinityName,
      ...affinityFields,
      overflowAffinities: policyList(structureSchema({ affinityName, ...affinityFields })).exactOptional(),
    }),
  ).exactOptional(),
  clusterTolerations: policyList(toleration).exactOptional(),
  spreadConstraints: policyList(
    structureSchema({
      spreadByField: textEnum(['cluster', 'region', 'zone', 'provider']).exactOptional(),
      spreadByLabel: policyText.exactOptional(),
      minGroups: int64.exactOptional(),
      maxGroups: int64.exactOptional(),
    }),
  ).exactOptional(),
  replicaScheduling: replicaScheduling.exactOptional(),
  workloadAffinity: structureSchema({
    affinity: groupByLabel.exactOptional(),
    antiAffinity: groupByLabel.exactOptional(),
  }).exactOptional(),
});

const statePreservation = structureSchema({
  rules: policyList(structureSchema({ aliasLabelName: policyText, jsonPath: policyText })),
});

/** Older versions of Karmada spell two modes differently. */
const olderPurgeModes = { Immediately: 'Directly', Graciously: 'Gracefully' } as const;

const purgeMode = translatedSchema(textEnum(['Directly', 'Gracefully', 'Never', 'Immediately', 'Graciously']), {
  decode: (mode) => (mode === 'Immediately' || mode === 'Graciously' ? olderPurgeModes[mode] : mode),
  encode: (mode) => mode,
});

const failover = structureSchema({
  application: structureSchema({
    decisionConditions: structureSchema({ tolerationSeconds: int32.default(300) }),
    purgeMode: purgeMode.default('Gracefully'),
    gracePeriodSeconds: int32.exactOptional(),
    statePreservation: statePreservation.exactOptional(),
  }).exactOptional(),
  cluster: structureSchema({
    purgeMode: textEnum(['Directly', 'Gracefully']).default('Gracefully'),
    statePreservation: statePreservation.exactOptional(),
  }).exactOptional(),
});

const propagationPolicySpec = structureSchema({
  resourceSelectors: policyList(resourceSelector, 1),
  association: flag.exactOptional(),
  propagateDeps: flag.exactOptional(),
  placement: placement.exactOptional(),
  priority: int32.default(0),
  preemption: textEnum(['Always', 'Never']).default('Never'),
  dependentOverrides: textList.exactOptional(),
  schedulerName: policyText.default('default-scheduler'),
  failover: failover.exactOptional(),
  conflictResolution: textEnum(['Abort', 'Overwrite']).default('Abort'),
  activationPreference: textEnum(['Lazy']).exactOptional(),
  suspension: structureSchema({
    dispatching: flag.exactOptional(),
    dispatchingOnClusters: structureSchema({ clusterNames: textList.exactOptional() }).exactOptional(),
  }).exactOptional(),
  preserveResourcesOnDeletion: flag.exactOptional(),
  schedulePriority: structureSchema({
    priorityClassSource: textEnum(['KubePriorityClass']),
    priorityClassName: policyText,
  }).exactOptional(),
});

/** A PropagationPolicy or ClusterPropagationPolicy with all fields of its definition (policy.karmada.io/v1alpha1). */
export const propagationPolicy = structureSchema({
  apiVersion: policyText,
  kind: policyText,
  metadata: policyMetadata,
  spec: propagationPolicySpec,
});

/** `spec` of a PropagationPolicy or ClusterPropagationPolicy. */
export type PropagationPolicySpec = Omit<z.output<typeof propagationPolicySpec>, 'placement'> & { readonly placement?: CheckedPlacement };
