import type { Json } from '../../core/json.ts';

/** One action of `spec.customize` of a MultiClusterResource. */
export interface CustomizeAction {
  readonly path: string;
  readonly op?: string | null | undefined;
  readonly value?: readonly Json[] | null | undefined;
}

/** An operation of a JSON patch. Its `op` is not checked. It may be absent, and API servers then refuse the patch. */
export interface ConvertedAction {
  readonly path: string;
  readonly op?: string | undefined;
  /** Absent if the action has no value. */
  readonly value?: Json | undefined;
}

/**
 * Converts an action as the operator of MultiClusterResources does. The value is the last element of the list, and an empty list or null is
 * no value.
 *
 * If a text in the list contains `=`, the value is an object instead: each text `key=value` becomes a member, where a second `=` ends the
 * value. The other elements are lost.
 */
export function convertAction({ action: { path, op, value } }: { readonly action: CustomizeAction }): {
  readonly jsonPatchOperation: ConvertedAction;
} {
  const elements = value ?? [];
  const pairs = elements.filter((element): element is string => typeof element === 'string' && element.includes('='));
  const converted = pairs.length > 0 ? Object.fromEntries(pairs.map(memberOf)) : (elements.at(-1) ?? undefined);
  return { jsonPatchOperation: { path, op: op ?? undefined, ...(converted === undefined ? {} : { value: converted }) } };
}

function memberOf(pair: string): readonly [string, string] {
  const [key = '', text = ''] = pair.split('=');
  return [key, text];
}
