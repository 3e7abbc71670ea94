import type { VectorOps } from './vector.ts';

/** The files of this family: each op with its function and how answers are compared. */
export const statusVectors: VectorOps = {};
