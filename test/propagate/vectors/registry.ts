import { importerVectors } from './importer-vectors.ts';
import { karmadaPolicyVectors } from './karmada-policy-vectors.ts';
import { placingVectors } from './placing-vectors.ts';
import { renderingVectors } from './rendering-vectors.ts';
import { rolloutVectors } from './rollout-vectors.ts';
import { statusVectors } from './status-vectors.ts';
import type { VectorOps } from './vector.ts';

/** Every vector file that is known, each in one family. */
export const vectorOps: VectorOps = {
  ...placingVectors,
  ...renderingVectors,
  ...rolloutVectors,
  ...statusVectors,
  ...importerVectors,
  ...karmadaPolicyVectors,
};
