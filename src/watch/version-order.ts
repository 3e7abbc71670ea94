import type { ResourceVersion } from '../core/names.ts';

const decimal = /^\d+$/;

/**
 * True if `version` is certainly older than `other`: both are plain decimals, which can be ordered (KEP-5504). Everything else is opaque
 * and never older.
 */
export function isOlder(version: ResourceVersion, other: ResourceVersion): boolean {
  if (!decimal.test(version) || !decimal.test(other)) return false;
  return version.length === other.length ? version < other : version.length < other.length;
}
