import { MusterError } from '../../core/errors.ts';
import { type Json, parseJson } from '../../core/json.ts';

const defaultPage = 100;
const maxPage = 500;

/** A resource of the hub that is listed by its namespace and name. */
interface NamedResource {
  readonly metadata: { readonly namespace: string; readonly name: string };
}

interface PageRequest {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  /** A hash of the filter and the caller. A cursor is valid only for the same hash. */
  readonly seal: string;
}

/** One page of resources, in order of namespace and name. */
interface NamedPage<T> {
  readonly items: readonly T[];
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly endCursor?: string;
}

/**
 * Sorts resources by namespace and name, and returns one page of them.
 *
 * @throws {MusterError} `BAD_INPUT` for a size or a cursor that cannot be served.
 */
export function pageByName<T extends NamedResource>(
  resources: readonly T[],
  { first: size, after: cursor, seal }: PageRequest,
): NamedPage<T> {
  const first = size ?? defaultPage;
  if (!Number.isInteger(first) || first < 1 || first > maxPage) {
    throw new MusterError('BAD_INPUT', `first: expected 1 to ${maxPage}, got ${first}`);
  }
  const after = cursor === undefined || cursor === null ? undefined : openCursor(cursor, seal);
  const found = resources.toSorted((a, b) => comparePositions(positionOf(a), positionOf(b)));
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
  const [first, second] = a[0] === b[0] ? [a[1], b[1]] : [a[0], b[0]];
  return first === second ? 0 : first < second ? -1 : 1;
}

function cursorOf(place: PagePosition, seal: string): string {
  return Buffer.from(JSON.stringify([seal, ...place])).toString('base64url');
}

function openCursor(cursor: string, wanted: string): PagePosition {
  const parts = cursorParts(cursor);
  const [seal, namespace, name] = parts;
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
