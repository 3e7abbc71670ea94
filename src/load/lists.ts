import type { Fault } from '../core/faults.ts';
import { apiVersionOf, keyOfKind } from '../core/kinds.ts';
import type { SensitiveKinds } from '../core/sensitive-kinds.ts';
import type { Model, ModelKind } from '../model/model.ts';
import type { AskedOfKinds } from '../model/paths-of-kinds.ts';
import { parsePosition, printPosition } from '../store/cursor.ts';
import { type QuerySpec, runQuery } from '../store/query.ts';
import type { QuerySource } from '../store/query-source.ts';
import { createAggregates, noAggregates } from './aggregates.ts';
import { type CheckedArguments, checkArguments } from './list-arguments.ts';
import { type Ask, type HeldPart, type Part, type PartsOptions, withParts } from './parts.ts';
import type { ListArguments, Listed, ReadContext, Row, SyncView } from './reads.ts';
import { rowOf } from './rows.ts';
import { foreignCursor, type Seal, type SealScope } from './seal.ts';

/** What a page is made with, wherever its parts come from. */
export interface ListedOptions {
  readonly seal: Seal;
  readonly sensitive: SensitiveKinds;
}

export interface ListsOptions extends PartsOptions, ListedOptions {
  readonly model: () => Model;
}

/** What is listed: kinds of a model. */
export interface ListedKinds {
  readonly kinds: readonly ModelKind[];
  /** True if the caller chose them: only then is it a fault that a cluster which was named lacks one. */
  readonly chosen: boolean;
  readonly args: ListArguments;
}

/**
 * One page over all clusters and kinds asked, of one moment.
 *
 * @throws {MusterError} `BAD_INPUT` if an argument cannot be served, before anything is waited for.
 */
export async function readList(options: ListsOptions, context: ReadContext, { kinds, chosen, args }: ListedKinds): Promise<Listed> {
  const model = options.model();
  const checked = checkArguments(args, { model, kinds, sensitive: options.sensitive });
  const scope: SealScope = { callerKey: context.caller.key, filter: checked.filter };
  const after = checked.after === undefined ? undefined : (parsePosition(options.seal.open(checked.after, scope)) ?? refuseCursor());
  const asks = asksOf(options, context, { kinds, chosen, checked });
  const { namespaces, selector, where, search, order, first } = checked;
  const spec = { namespaces, selector, where, search, order, first, after };
  const aggregated = args.aggregated === true ? { model, kinds } : undefined;
  return withParts(options, { asks, waitMs: checked.waitMs, context }, (parts) => listedOf(options, parts, { spec, scope, aggregated }));
}

/** What is asked of parts, and what its cursors are good for. */
export interface AskedPage {
  readonly spec: QuerySpec;
  readonly scope: SealScope;
  /** Of its rows: how many relations lead to them. */
  readonly depth?: number;
  /** Parts that were read on the way, whose objects are none of the page's. */
  readonly via?: readonly Part[];
  /** The kinds of its parts, for paths through them. Absent: nothing is computed from what matches. */
  readonly aggregated?: AskedOfKinds | undefined;
}

/** One page of what these parts hold, as they are now. */
export function listedOf({ seal, sensitive }: ListedOptions, parts: readonly Part[], asked: AskedPage): Listed {
  const { spec, scope, depth, via = [], aggregated } = asked;
  const sources = parts.filter((part) => part.type === 'held').map(sourceOf);
  const result = runQuery(sources, { ...spec, keepMatches: aggregated !== undefined });
  const hits = new Map(result.hits.map((hit) => [rowOf(hit.source.part, hit.object, { sensitive, depth }), hit]));
  const sync = [...parts, ...via].flatMap((part) => (part.type === 'notServed' ? [] : [part.sync])).sort(byClusterAndKind);
  return {
    items: [...hits.keys()],
    totalCount: result.totalCount,
    hasNextPage: result.hasNextPage,
    hasPreviousPage: result.hasPreviousPage,
    cursorOf: sealedOnce((row) => {
      const hit = hits.get(row);
      return hit === undefined ? refuseCursor() : seal.close(printPosition(result.positionOf(hit)), scope);
    }),
    sync,
    faults: faultsOf(sync),
    ...(aggregated === undefined ? noAggregates : createAggregates({ ...aggregated, sensitive }, result.matches)),
  };
}

/** A seal gives another text at each call, and clients take the cursor of the last edge and `endCursor` for one. */
function sealedOnce(seal: (row: Row) => string): Listed['cursorOf'] {
  const cursors = new Map<Row, string>();
  return (row) => {
    const cursor = cursors.get(row) ?? seal(row);
    cursors.set(row, cursor);
    return cursor;
  };
}

/** A part that is held, as a query reads it. */
interface PartSource extends QuerySource {
  readonly part: HeldPart;
}

function asksOf(
  { views }: ListsOptions,
  { caller }: ReadContext,
  { kinds, chosen, checked }: Omit<ListedKinds, 'args'> & { readonly checked: CheckedArguments },
): readonly Ask[] {
  const { clusters, namespaces } = checked;
  const asked = clusters === undefined ? views.visible(caller) : views.named(caller, clusters);
  const named = chosen && clusters !== undefined;
  return asked.flatMap((cluster) => kinds.map((kind) => ({ cluster, kind, verb: 'list', named, namespaces }) as const));
}

/** What a query reads of it. */
export function sourceOf(part: HeldPart): PartSource {
  const { ask, mirror, sight } = part;
  return { part, cluster: ask.cluster, kind: ask.kind, apiVersion: apiVersionOf(mirror.resource), store: mirror.store, sight };
}

function refuseCursor(): never {
  throw foreignCursor();
}

function byClusterAndKind(a: SyncView, b: SyncView): number {
  return compareText(a.cluster.name, b.cluster.name) || compareText(keyOfKind(a.kind), keyOfKind(b.kind));
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Each once, also where one fault of a cluster stands for several of its kinds. */
function faultsOf(sync: readonly SyncView[]): readonly Fault[] {
  return [...new Set(sync.flatMap(({ fault }) => (fault === undefined ? [] : [fault])))];
}
