import { describedEnum } from '../../core/json/field-definitions.ts';

/** A system whose manifests can be imported. */
export const sourceSystem = describedEnum('SourceSystem', 'A system whose manifests can be imported.', {
  Karmada: 'Karmada: policies of the API group policy.karmada.io.',
  Kubefed: 'KubeFed: federated kinds and ReplicaSchedulingPreferences.',
  FederationV1: 'Kubernetes Federation v1: annotations with preferences of the API group federation.kubernetes.io.',
  MultiClusterResource: 'The operator of MultiClusterResources of the API group mulitcluster.practice.com.',
});
