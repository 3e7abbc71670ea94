import { createHash } from 'node:crypto';
import { boundedList } from '../../core/bounded-list.ts';
import { MusterError } from '../../core/errors.ts';
import { type Json, parseJson } from '../../core/json.ts';
import { compareText } from '../../core/text.ts';
import type { HubListFilter, HubPage } from '../model/hub-page.ts';
import type { PropagationPhase } from '../model/propagation.ts';

const defaultPageSize = 100;
const maxPageSize = 500;

/** A resource of the hub that is listed by its namespace and name. */
interface NamedResource {
  readonly metadata: { readonly namespace: string; readonly name: string };
}

interface ListRequest<T> {
  readonly filter: HubListFilter;
  /** True for a namespace whose resources the caller may list. Default: all. */
  readonly isListed?: ((namespace: string) => boolean) | undefined;
  readonly phaseOf: (resource: T) => PropagationPhase;
  /** Further conditions. Default: none. */
  readonly matches?: ((resource: T) => boolean) | undefined;
  /** The caller and the filter. A cursor is valid only for equal values. */
  readonly sealed: Json;
}

/**
 * Returns one page of the resources that match the filter, in order of namespace and name.
 *
 * @throws {MusterError} `BAD_INPUT` for a filter, a size or a cursor that cannot be served.
 */
export function pageByName<T extends NamedResource>(
  resources: readonly T[],
  { filter: { namespaces, phases, first: size, after: cursor }, isListed, phaseOf, matches, sealed }: ListRequest<T>,
): HubPage<T> {
  const inNamespaces = namespaces == null ? undefined : new Set(boundedList('namespaces', namespaces));
  boundedList('phases', phases);
  const first = size ?? defaultPageSize;
  if (!Number.isInteger(first) || first < 1 || first > maxPageSize) {
    throw new MusterError('BAD_INPUT', `first: expected 1 to ${maxPageSize}, got ${first}`);
  }
  const seal = createHash('sha256').update(JSON.stringify(sealed)).digest('base64url').slice(0, 16);
  const after = cursor == null ? undefined : openCursor(cursor, seal);
  const found = resources
    .filter(
      (one) =>
        (inNamespaces?.has(one.metadata.namespace) ?? true) &&
        (isListed?.(one.metadata.namespace) ?? true) &&
        (phases?.includes(phaseOf(one)) ?? true) &&
        (matches?.(one) ?? true),
    )
    .toSorted((a, b) => comparePositions(positionOf(a), positionOf(b)));
  const rest = after === undefined ? found : found.filter((one) => comparePositions(positionOf(one), after) > 0);
  const items = rest.slice(0, first);
  const last = items.at(-1);
  return {
    items,
    totalCount: found.length,
    hasNextPage: rest.length > items.length,
    hasPreviousPage: found.length > rest.length,
    ...(last === undefined ? {} : { endCursor: cursorOf(positionOf(last), seal) }),
  };
}

type PagePosition = readonly [namespace: string, name: string];

function positionOf({ metadata: { namespace, name } }: NamedResource): PagePosition {
  return [namespace, name];
}

function comparePositions(a: PagePosition, b: PagePosition): number {
  return compareText(a[0], b[0]) || compareText(a[1], b[1]);
}

function cursorOf(position: PagePosition, seal: string): string {
  return Buffer.from(JSON.stringify([seal, ...position])).toString('base64url');
}

function openCursor(cursor: string, wanted: string): PagePosition {
  const [seal, namespace, name] = cursorParts(cursor);
  if (seal !== wanted || typeof namespace !== 'string' || typeof name !== 'string' || cursorOf([namespace, name], wanted) !== cursor) {
    throw new MusterError('BAD_INPUT', 'after: expected a cursor of this list');
  }
  return [namespace, name];
}

function cursorParts(cursor: string): readonly Json[] {
  try {
    const parts = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
