import { type GroupKind, keyOfKind } from './kinds.ts';

/**
 * The kinds whose values are confidential: Secrets, and the kinds in the config. Mirrors hold only their metadata, and values come only
 * from a live read of one object.
 */
export interface SensitiveKinds {
  has(kind: GroupKind): boolean;
}

/**
 * Creates the set of the kind Secret and of the kinds with these keys (`keyOfKind`). A kind may be in the set before any cluster serves it.
 */
export function createSensitiveKinds(names: readonly string[] = []): SensitiveKinds {
  const keys = new Set(['Secret', ...names]);
  return { has: (kind) => keys.has(keyOfKind(kind)) };
}
