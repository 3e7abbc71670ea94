import { objectAt } from '../../../core/json-at.ts';
import { isLabelValue } from '../../../core/selectors.ts';
import { parsePreservedPath } from '../../model/failover-definition.ts';
import type { Eviction } from '../../model/propagation.ts';
import type { FailoverSpec } from '../../model/spec.ts';
import type { CopyFacts } from '../../status/facts.ts';

/**
 * Reads the labels of `failover.preserve` from the last known status of the copies in a cluster. `notPreserved` names the labels for which
 * no copy has a value, or whose value is no label value.
 */
export function preservedFrom(copies: readonly CopyFacts[], { preserve }: FailoverSpec): Pick<Eviction, 'preserved' | 'notPreserved'> {
  const preserved = copies.flatMap(({ entry: { key }, mirrored }) => {
    const status = mirrored.result === 'held' ? objectAt(mirrored.object, 'status') : {};
    const found = preserve.flatMap(({ label, jsonPath }) => {
      const value = labelValueOf(parsePreservedPath(jsonPath)?.(status) ?? []);
      return value === undefined ? [] : [[label, value] as const];
    });
    return found.length === 0 ? [] : [{ key, labels: Object.fromEntries(found) }];
  });
  const notPreserved = preserve.map(({ label }) => label).filter((label) => !preserved.some(({ labels }) => Object.hasOwn(labels, label)));
  return {
    ...(preserved.length === 0 ? {} : { preserved }),
    ...(notPreserved.length === 0 ? {} : { notPreserved }),
  };
}

/** Returns the values at a path as kubectl prints them, separated by spaces. Undefined if there are none, or if that is no label value. */
function labelValueOf(values: readonly unknown[]): string | undefined {
  if (values.length === 0 || values.some((value) => value === null || typeof value === 'object')) return undefined;
  const text = values.map(String).join(' ');
  return isLabelValue(text) ? text : undefined;
}
