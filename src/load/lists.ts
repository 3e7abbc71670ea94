import type { Model, ModelKind } from '../model/model.ts';
import { parsePosition } from '../store/cursor.ts';
import { type CheckedArguments, checkArguments } from './list-arguments.ts';
import { type ListedOptions, listedOf } from './listed.ts';
import { type Ask, type PartsOptions, withParts } from './parts.ts';
import type { ListArguments, Listed, ReadContext } from './reads.ts';
import { foreignCursor, type SealScope } from './seal.ts';

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

function refuseCursor(): never {
  throw foreignCursor();
}
