import type { PromiseOrValue } from '../core/scheduling/promise-or-value.ts';
import type { Model, ModelKind } from '../model/model.ts';
import { bothOf, type CheckedArguments, checkArguments, relationsIn } from './list-arguments.ts';
import { type AskedPage, type ListedOptions, listedOf } from './listed.ts';
import { type Ask, type Part, type PartsOptions, withParts } from './parts.ts';
import type { ListArguments, Listed, ReadContext } from './reads.ts';
import { type AskedRelated, BegunRelated } from './relations/begun-relations.ts';
import { openPosition, type SealScope } from './seal.ts';

interface ListsOptions extends PartsOptions, ListedOptions {
  readonly model: () => Model;
}

/** What is listed: kinds of a model. */
interface ListedKinds {
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
  await context.timeSlices.pause();
  const model = options.model();
  const checked = checkArguments(args, { model, kinds, sensitive: options.sensitive });
  const scope: SealScope = { callerKey: context.caller.key, filter: checked.filter };
  const after = openPosition(options.seal, checked.after, scope);
  const asks = asksOf(options, context, { kinds, chosen, checked });
  const { namespaces, selector, where, search, order, first, waitMs } = checked;
  const spec = { namespaces, selector, where, search, order, first, after };
  const aggregated = args.aggregated && {
    model,
    kinds,
    relations: relationsIn(args.aggregated, { model, kinds, sensitive: options.sensitive }),
  };
  const relations = bothOf(checked.relations, aggregated?.relations);
  const page = { spec, context, scope, waitMs, aggregated };
  if (relations.size > 0) return readThrough(options, context, { asks, waitMs, page, asked: { model, relations, namespaces } });
  return withParts(options, { asks, waitMs, context }, (parts) => listedOf(options, parts, page));
}

interface AskedThrough {
  readonly asks: readonly Ask[];
  readonly waitMs: number;
  readonly page: AskedPage;
  readonly asked: Pick<AskedRelated, 'model' | 'relations' | 'namespaces'>;
}

/** A page that is decided by other objects too: their mirrors are held and waited for as those of its own kinds are, as long together. */
async function readThrough(options: ListsOptions, context: ReadContext, { asks, waitMs, page, asked }: AskedThrough): Promise<Listed> {
  using related = new BegunRelated(options, { ...asked, waitMs, context });
  const inParts = <T>(use: (parts: readonly Part[]) => PromiseOrValue<T>) =>
    withParts(options, { asks, waitMs: related.restMs, context }, use);
  const holdOwners = async () => related.hold(await inParts((parts) => context.timeSlices.run(related.ownersIn(parts, page.spec))));
  await Promise.all([holdOwners(), related.hold(related.knownOf(asks))]);
  // What has come meanwhile may have owners of other kinds; how many there may be is bounded.
  while (await holdOwners());
  await related.look();
  return await inParts((parts) => listedOf(options, parts, { ...page, related }));
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
