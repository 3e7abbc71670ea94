import type { InventoryType } from '../../config/defaults.ts';
import { clusterProfiles } from './cluster-profile.ts';
import type { InventoryAdapter } from './inventory-adapter.ts';
import { clusterApi, istio, multiclusterRuntime } from './kubeconfig-secrets.ts';
import { argoCd, karmada, openClusterManagement } from './token-secrets.ts';

/** The adapter of each type of inventory that the config may name. */
export const adapters: Readonly<Record<InventoryType, InventoryAdapter>> = {
  ClusterAPI: clusterApi,
  Karmada: karmada,
  OpenClusterManagement: openClusterManagement,
  ClusterProfile: clusterProfiles,
  Istio: istio,
  ArgoCD: argoCd,
  MulticlusterRuntime: multiclusterRuntime,
};
