import { MusterError } from '../../core/errors.ts';
import { allConditions, parseWhere, schemaPath } from '../../core/filters/where-text.ts';
import type { JsonObject } from '../../core/json.ts';
import { parseSort, type SortOrder } from '../table/table-column.ts';

/** The state of a page of objects, from its query. */
export interface KindState {
  readonly selection: ObjectFilter;
  /** True if the selection leaves out objects. */
  readonly isFiltered: boolean;
  readonly sort: SortOrder | undefined;
  /** The path to group by. */
  readonly group: string | undefined;
  /** The paths of more columns. */
  readonly columns: readonly string[];
  /** Why `where` is no condition. Undefined if it is one. */
  readonly problem: string | undefined;
}

/** The objects to show, as variables of the gateway. Undefined: no restriction. */
interface ObjectFilter {
  readonly clusters: readonly string[] | undefined;
  readonly namespaces: readonly string[] | undefined;
  readonly labels: string | undefined;
  readonly search: string | undefined;
  readonly where: JsonObject | undefined;
}

/** Parses the query of a page of objects. */
export function kindStateOf(query: URLSearchParams): KindState {
  const where = whereOf(query.getAll('where'));
  const selection = {
    clusters: listOf(query.get('clusters')),
    namespaces: listOf(query.get('namespaces')),
    labels: textOf(query.get('labels')),
    search: textOf(query.get('search')),
    where: 'problem' in where ? undefined : where.condition,
  };
  return {
    selection,
    isFiltered: Object.values(selection).some((value) => value !== undefined),
    sort: parseSort(query.get('sort')),
    group: textOf(query.get('group')),
    columns: (listOf(query.get('columns')) ?? []).map(schemaPath),
    problem: 'problem' in where ? where.problem : undefined,
  };
}

function whereOf(texts: readonly string[]): { readonly condition: JsonObject | undefined } | { readonly problem: string } {
  try {
    const conditions = texts.filter((text) => text.trim() !== '').map(parseWhere);
    return { condition: allConditions(conditions) ?? undefined };
  } catch (error) {
    if (error instanceof MusterError) return { problem: error.message };
    throw error;
  }
}

function listOf(text: string | null): readonly string[] | undefined {
  const parts = (text ?? '').split(',').map((part) => part.trim());
  const named = parts.filter((part) => part !== '');
  return named.length === 0 ? undefined : named;
}

function textOf(text: string | null): string | undefined {
  const trimmed = (text ?? '').trim();
  return trimmed === '' ? undefined : trimmed;
}
