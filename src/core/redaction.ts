import type { GroupKind } from './kinds.ts';
import type { KubernetesObject, ObjectMetadata } from './objects.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** True for the kind that each cluster's config has its own rule for. */
export function isSecret({ group, kind }: GroupKind): boolean {
  return group === '' && kind === 'Secret';
}

/** What decides how much of an object may leave the gateway. */
export interface RedactionRule {
  /** Its kind is one of those whose values are guarded. */
  readonly sensitive: boolean;
  /** It was read at this moment, for this answer alone. */
  readonly live: boolean;
}

/**
 * What of an object may leave the gateway: no `managedFields`; of a sensitive kind neither the annotation that repeats its values nor, unless it
 * was read live, anything but its metadata. The object itself where nothing has to go; nothing is changed in place.
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

/** Keys are copied as own properties, `__proto__` too. */
function without<T extends object>(map: T, keys: readonly string[]): T {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key))) as T;
}
