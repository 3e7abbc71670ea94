import { federationV1Importer } from '../federation-v1/federation-v1-importer.ts';
import { karmadaImporter } from '../karmada/karmada-importer.ts';
import { kubeFedImporter } from '../kubefed/kubefed-importer.ts';
import type { Importer } from '../model/importer.ts';
import { multiClusterResourceImporter } from '../multi-cluster-resource/multi-cluster-resource-importer.ts';

/** The importers, in the order in which they take documents. */
export const importers: readonly Importer[] = [karmadaImporter, kubeFedImporter, federationV1Importer, multiClusterResourceImporter];
