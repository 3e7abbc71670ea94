import type { V1LabelSelector } from '@kubernetes/client-node';
import type { Stored } from '../stored.ts';
import type { Maybe } from './printed-column.ts';

type Labels = Readonly<Record<string, string>>;

/** A label selector in an answer of the gateway. */
export type AnsweredSelector = Stored<V1LabelSelector, null>;

/** The GraphQL selection that gives an `AnsweredSelector`. */
export const selectorFields = 'selector { matchLabels matchExpressions { key operator values } }';

/** Returns `app=web,tier=front`, in order of key. Empty if there are no labels. */
export function labelsText(labels: Maybe<Labels>): string {
  return Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .toSorted()
    .join(',');
}

/**
 * Returns `app=web,tier in (back,front),!canary`, in order of key. The text is empty without a selector, and for one without conditions.
 * Undefined for an invalid selector.
 */
export function selectorText(selector: Maybe<AnsweredSelector>): string | undefined {
  const equal = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({ key, text: `${key}=${value}` }));
  const other = (selector?.matchExpressions ?? []).map(({ key, operator, values }) => ({
    key: key ?? '',
    text: expressionText(key ?? '', operator ?? '', values ?? []),
  }));
  const all = [...equal, ...other].toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  return all.every(({ text }) => text !== undefined) ? all.map(({ text }) => text).join(',') : undefined;
}

function expressionText(key: string, operator: string, values: readonly string[]): string | undefined {
  switch (operator) {
    case 'In':
      return `${key} in (${values.toSorted().join(',')})`;
    case 'NotIn':
      return `${key} notin (${values.toSorted().join(',')})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return undefined;
  }
}
