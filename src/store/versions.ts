import type { ResourceVersion } from '../core/names.ts';

const decimal = /^(?:0|[1-9]\d*)$/;

/**
 * Returns a number below zero if `a` is the older version, zero if both are equal, and a number above zero if `a` is the newer one. Returns
 * undefined if they differ and are not both plain decimals (KEP-5504), because other versions have no order.
 */
export function compareVersions(a: ResourceVersion | string, b: ResourceVersion | string): number | undefined {
  if (a === b) return 0;
  if (!decimal.test(a) || !decimal.test(b)) return undefined;
  return a.length - b.length || (a < b ? -1 : 1);
}
