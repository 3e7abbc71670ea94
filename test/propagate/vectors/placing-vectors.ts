import type { VectorOps } from './vector.ts';

/** Which clusters, and how many in each: the files of this family, each op with its function and how answers are compared. */
export const placingVectors: VectorOps = {};
