import type { GroupKind } from './kinds.ts';
import type { KubernetesObject, ObjectMetadata } from './objects.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** True for the kind Secret. Access to Secrets is a setting of each cluster in the config, which other sensitive kinds do not have. */
export function isSecret({ group, kind }: GroupKind): boolean {
  return group === '' && kind === 'Secret';
}

/** The rule that decides how much of an object may leave the gateway. */
export interface RedactionRule {
  /** True if the values of the object's kind are confidential (`SensitiveKinds`). */
  readonly sensitive: boolean;
  /** True if the object was read live for this one answer. False: it comes from a mirror. */
  readonly live: boolean;
}

/**
 * Returns the parts of an object that may leave the gateway. `managedFields` never may.
 *
 * For a sensitive kind, kubectl's last-applied-configuration is removed too, because this annotation repeats the values. Of an object of a
 * sensitive kind that was not read live, only the metadata remains. Returns the object itself if it needs no change, else a new object.
 */
export function redact(object: KubernetesObject, { sensitive, live }: RedactionRule): KubernetesObject {
  const metadata = redactMetadata(object.metadata, sensitive);
  const dropped = sensitive && !live ? Object.keys(object).filter((key) => !shownOfSensitive.has(key)) : [];
  if (metadata === object.metadata && dropped.length === 0) return object;
  return { ...without(object, dropped), metadata };
}

const shownOfSensitive: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

function redactMetadata(metadata: ObjectMetadata, sensitive: boolean): ObjectMetadata {
  const { annotations } = metadata;
  const repeated = sensitive && annotations != null && Object.hasOwn(annotations, lastApplied);
  if (!repeated && !Object.hasOwn(metadata, 'managedFields')) return metadata;
  const rest = without(metadata, ['managedFields']);
  return repeated ? { ...rest, annotations: without(annotations, [lastApplied]) } : rest;
}

/** Returns a copy of the map without these keys. All other keys are copied as own properties, `__proto__` too. */
function without<T extends object>(map: T, keys: readonly string[]): T {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key))) as T;
}
