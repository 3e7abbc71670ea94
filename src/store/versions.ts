import type { ResourceVersion } from '../core/names.ts';

const decimal = /^(?:0|[1-9]\d*)$/;

/**
 * Compares two versions if both are plain decimals (KEP-5504) or equal: below zero, zero, or above zero. Returns undefined otherwise,
 * because other versions have no order.
 */
export function compareVersions(a: ResourceVersion | string, b: ResourceVersion | string): number | undefined {
  if (a === b) return 0;
  if (!decimal.test(a) || !decimal.test(b)) return undefined;
  return a.length - b.length || (a < b ? -1 : 1);
}
