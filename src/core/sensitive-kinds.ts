import { type GroupKind, keyOfKind } from './kinds.ts';

/** The kinds of which only the metadata is held, and whose values are given by one live read alone: Secrets always, and what the config names. */
export interface SensitiveKinds {
  has(kind: GroupKind): boolean;
}

/** Secrets, and these kinds by `keyOfKind`; one that no cluster serves yet is guarded from the moment that one does. */
export function createSensitiveKinds(names: readonly string[] = []): SensitiveKinds {
  const keys = new Set(['Secret', ...names]);
  return { has: (kind) => keys.has(keyOfKind(kind)) };
}
