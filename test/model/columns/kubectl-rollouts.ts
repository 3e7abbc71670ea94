import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../../src/core/json.ts';

/** The output of `kubectl rollout status --watch=false` (1.36.3) for an object of a real API server whose status was written by hand. */
export interface KubectlRollout {
  readonly kind: string;
  readonly says: 'waiting' | 'done' | 'failed' | 'refused';
  readonly object: JsonObject;
}

export const kubectlRollouts: readonly KubectlRollout[] = JSON.parse(
  readFileSync(new URL('./kubectl-rollouts.json', import.meta.url), 'utf8'),
);
