import type { ListTarget } from '../arguments/object-words.ts';
import { CommandFailure } from '../client/command-failure.ts';
import { fullKindName, noClusterServes, type ResolvedKind, resolveKinds } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';

/** Objects to list, with the kinds that the word of the user means. */
export interface ResolvedListTarget extends ListTarget {
  readonly kinds: readonly ResolvedKind[];
}

interface KindCategories {
  readonly group: string;
  readonly kind: string;
  readonly categories: readonly string[];
}

/**
 * Queries which kinds the words of the targets mean. A category, such as `all`, gives one target for each of its kinds.
 *
 * @throws {CommandFailure} if a word means neither a kind nor a category, or no cluster serves any of the kinds.
 */
export async function resolveListTargets(session: Session, targets: readonly ListTarget[]): Promise<readonly ResolvedListTarget[]> {
  const resolved = (await Promise.all(targets.map((target) => resolveListTarget(session, target)))).flat();
  if (resolved.every(({ kinds }) => kinds.length === 0)) throw noClusterServes(targets.map(({ kind }) => kind));
  return resolved;
}

async function resolveListTarget(session: Session, target: ListTarget): Promise<readonly ResolvedListTarget[]> {
  try {
    return [{ ...target, kinds: await distinctKinds(session, target.kind) }];
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    const names = await kindsOfCategory(session, target.kind);
    if (names.length === 0) throw error;
    const members = await Promise.all(names.map(async (kind) => ({ ...target, kind, kinds: await distinctKinds(session, kind) })));
    return members.filter(({ kinds }) => kinds.length > 0);
  }
}

async function distinctKinds(session: Session, word: string): Promise<readonly ResolvedKind[]> {
  return [...new Map((await resolveKinds(session, [word])).map(({ kind }) => [fullKindName(kind), kind])).values()];
}

/** Returns the names of the kinds in a category of kubectl, such as `all`. Empty if there is no such category. */
async function kindsOfCategory({ gateway }: Session, category: string): Promise<readonly string[]> {
  const { kinds } = await gateway.query<{ readonly kinds: readonly KindCategories[] }>('{ kinds { group kind categories } }', {});
  return kinds.filter(({ categories }) => categories.includes(category)).map(fullKindName);
}
