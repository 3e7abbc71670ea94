import { karmadaImporter } from './karmada/karmada-importer.ts';
import type { Importer } from './model/importer.ts';

/** The importers, in the order in which they take documents. */
export const importers: readonly Importer[] = [karmadaImporter];
