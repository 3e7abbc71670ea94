import type { WriteContext } from '../../changes/write-context.ts';
import type { HubStores } from '../hub/hub-stores.ts';
import type { PropagationLookup, PropagationName } from '../model/propagations.ts';
import type { HubRights } from './hub-rights.ts';
import { anyName, hubProblem } from './ready-hub.ts';

/** The hub, and the rights of callers to its Propagations. Without rights, every caller may list all. */
interface LookedUpHub {
  readonly stores: HubStores;
  readonly rights?: Pick<HubRights, 'listed' | 'maySeeHub'> | undefined;
}

/**
 * Waits until the hub can be read, at most 5 s, and returns a lookup of the mirrored Propagations that the caller may list. On a hub without
 * Muster's definitions, and on one that is hidden, it finds nothing.
 */
export async function lookUpPropagations({ stores, rights }: LookedUpHub, context: WriteContext): Promise<PropagationLookup> {
  if (rights?.maySeeHub(context.caller) === false) return { result: 'read', find: () => undefined };
  const problem = await hubProblem(stores, context.signal);
  if (problem?.code === 'NOT_SERVED') return { result: 'read', find: () => undefined };
  if (problem !== undefined) return { result: 'unread', fault: problem };
  // The fault is the same for each name: the mirror is behind the hub.
  const { fault } = stores.propagations.read(anyName);
  if (fault !== undefined) return { result: 'unread', fault };
  const isListed = await rights?.listed(context, undefined);
  const listed = stores.propagations.all()?.filter(({ metadata }) => isListed?.(metadata.namespace) !== false);
  const byName = new Map(listed?.map((one) => [keyOf(one.metadata), one]));
  return { result: 'read', find: (name) => byName.get(keyOf(name)) };
}

function keyOf({ namespace, name }: PropagationName): string {
  return `${namespace}/${name}`;
}
