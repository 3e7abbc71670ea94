import type { V1LabelSelector } from '@kubernetes/client-node';
import type { Stored } from '../../core/stored.ts';
import type { Maybe } from './printed-column.ts';

type Labels = Readonly<Record<string, string>>;

/** A label selector in an answer of the gateway. */
export type AnsweredSelector = Stored<V1LabelSelector, null>;

/** The selection of a `AnsweredSelector`. */
export const selectorFields = 'selector { matchLabels matchExpressions { key operator values } }';

/** `app=web,tier=front`, by key; empty for none. */
export function labelsText(labels: Maybe<Labels>): string {
  return Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .toSorted()
    .join(',');
}

/** `app=web,tier in (back,front),!canary`, by key; empty for one that selects nothing or all; undefined for one that cannot be understood. */
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
