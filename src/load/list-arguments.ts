import { MusterError } from '../core/errors.ts';
import { keyOfKind } from '../core/kinds.ts';
import { type LabelSelector, parseSelector } from '../core/selectors.ts';
import type { Model, ModelKind } from '../model/model.ts';
import { canonicalFilter } from '../store/cursor.ts';
import { compileOrder, type Order } from '../store/order.ts';
import { compileWhere, type Where } from '../store/where.ts';
import { isSecret } from './manifest.ts';
import type { ListArguments, WhereInput } from './reads.ts';

/** The arguments of a list field, checked. */
export interface CheckedArguments {
  readonly clusters: readonly string[] | undefined;
  readonly namespaces: readonly string[] | undefined;
  readonly selector: LabelSelector | undefined;
  readonly where: Where | undefined;
  readonly search: string | undefined;
  readonly order: Order | undefined;
  readonly first: number;
  readonly after: string | undefined;
  readonly waitMs: number;
  /** Equal for arguments that ask for the same objects in the same order, whatever the page: what a cursor is bound to. */
  readonly filter: string;
}

const defaultFirst = 100;
const maxFirst = 500;
const defaultWaitSeconds = 10;
const maxWaitSeconds = 60;
const maxSearchLength = 256;

/** How long a single field waits for a first list: it has no argument for it. */
export const singleWaitMs = defaultWaitSeconds * 1_000;

/**
 * Checks everything that can be wrong before anything is asked or waited for. Absent and null mean the default.
 *
 * @throws {MusterError} `BAD_INPUT`: what was expected and what came.
 */
export function checkArguments(args: ListArguments, model: Model, kinds: readonly ModelKind[]): CheckedArguments {
  const selector = args.labels == null ? undefined : parseSelector(args.labels);
  if (kinds.length > 0 && kinds.every(isSecret)) refuseValuesOfSecrets(args);
  return {
    clusters: args.clusters ?? undefined,
    namespaces: args.namespaces == null ? undefined : [...new Set(args.namespaces)].sort(),
    selector,
    where: args.where == null ? undefined : compileWhere(model, kinds, args.where),
    search: checkSearch(args.search),
    order: args.orderBy == null ? undefined : compileOrder(model, kinds, args.orderBy),
    first: checkFirst(args.first),
    after: args.after ?? undefined,
    waitMs: checkWaitSeconds(args.waitSeconds) * 1_000,
    filter: canonicalFilter({ ...args, kinds: kinds.map(keyOfKind), selector }),
  };
}

function checkFirst(first: number | null | undefined): number {
  if (first == null) return defaultFirst;
  if (Number.isInteger(first) && first >= 1 && first <= maxFirst) return first;
  throw new MusterError('BAD_INPUT', `expected first from 1 to ${maxFirst}, got ${first}`);
}

function checkWaitSeconds(waitSeconds: number | null | undefined): number {
  if (waitSeconds == null) return defaultWaitSeconds;
  if (waitSeconds >= 0 && waitSeconds <= maxWaitSeconds) return waitSeconds;
  throw new MusterError('BAD_INPUT', `expected waitSeconds from 0 to ${maxWaitSeconds}, got ${waitSeconds}`);
}

function checkSearch(search: string | null | undefined): string | undefined {
  if (search == null || search === '') return undefined;
  if (search.length <= maxSearchLength) return search;
  throw new MusterError('BAD_INPUT', `expected at most ${maxSearchLength} characters to search for, got ${search.length}`);
}

/** Of a Secret only the metadata is held, so a filter on its values would find nothing and say nothing. */
function refuseValuesOfSecrets({ where, orderBy }: ListArguments): void {
  const wrong = [...pathsIn(where), ...(orderBy ?? []).map(({ path }) => path)].find(
    (path) => !/^(metadata|cluster|kind|apiVersion)\b/.test(path),
  );
  if (wrong === undefined) return;
  throw new MusterError(
    'BAD_INPUT',
    `expected a path in metadata or cluster, as of Secrets only the metadata is held, got ${wrong.slice(0, 80)}`,
  );
}

/** The paths of a filter that begin at the object. Walked without recursion: how deep it may go is checked elsewhere. */
function pathsIn(where: WhereInput | null | undefined): readonly string[] {
  const paths: string[] = [];
  const waiting = [where];
  while (waiting.length > 0) {
    const level = waiting.pop();
    if (level == null) continue;
    if (level.path != null) paths.push(level.path);
    waiting.push(...(level.and ?? []), ...(level.or ?? []), level.not);
  }
  return paths;
}
