import type { Access, Caller } from '../../access/access.ts';
import { isVisibleIn } from '../../access/is-visible-in.ts';
import type { WriteContext } from '../../changes/write-context.ts';
import type { Clock } from '../../core/clock.ts';
import { MusterError } from '../../core/errors.ts';
import { type Fault, fault } from '../../core/faults.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { HubObjectName } from '../hub/hub.ts';
import type { StateListener } from '../model/propagations.ts';
import { hubUnavailable } from './ready-hub.ts';

/** A verb on a kind on the hub. An object that the caller may not `get` does not exist for the caller. */
export type HubVerb = 'get' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** Why a caller may not change an object. `hidden`: the caller may not know whether it exists. */
type HubRefusal = { readonly result: 'hidden' } | { readonly result: 'refused'; readonly faults: readonly Fault[] };

/**
 * The rights of callers to one kind on the hub. The API server of the hub decides. The gateway then reads and writes the object with its own
 * account.
 *
 * @throws {MusterError} Every method: `UNAVAILABLE` if the rights cannot be checked.
 */
export interface HubRights {
  /**
   * Returns why the caller lacks one of these verbs. Undefined if the caller has all of them. `hidden` if the right `get` is missing, unless
   * the verbs include `create`: that refusal is the same whether or not the object exists.
   */
  refusalOf(context: WriteContext, name: HubObjectName, verbs: readonly HubVerb[]): Promise<HubRefusal | undefined>;
  /** True if the caller may get the object, so that the caller may know whether it exists. */
  mayGet(context: WriteContext, name: HubObjectName): Promise<boolean>;
  /** Returns a test for the namespaces whose objects the caller may list. */
  listed(context: WriteContext, namespaces: readonly string[] | undefined): Promise<(namespace: string) => boolean>;
  /** True if the caller may see anything on the hub. If false, answers must not contain its name. */
  maySeeHub(caller: Caller): boolean;
}

interface HubRightsOptions {
  readonly access: Access;
  readonly cluster: ClusterName;
  readonly kind: GroupKind;
}

/** Creates the rights of callers to a kind on the hub. */
export function createHubRights({ access, cluster, kind }: HubRightsOptions): HubRights {
  const refusal = async (
    { caller, signal }: WriteContext,
    { namespace, name }: HubObjectName,
    verb: HubVerb,
  ): Promise<Fault | undefined> => {
    const answer = await access.visibilityOf({ caller, cluster, kind, verb, object: { namespace, name } }, signal);
    signal.throwIfAborted();
    if (isVisibleIn(answer, namespace)) return undefined;
    if (answer.type === 'none' && answer.fault.code !== 'FORBIDDEN') throw hubUnavailable(answer.fault);
    const message = `${keyOfKind(kind)}: the caller may not ${verb} this kind in the namespace ${JSON.stringify(namespace.slice(0, 80))}`;
    return fault('FORBIDDEN', message, { cluster, kind: { group: kind.group, kind: kind.kind }, retry: 'NEVER' });
  };
  const maySeeHub = (caller: Caller) => access.maySeeCluster(caller, cluster);
  return {
    maySeeHub,
    mayGet: async (context, name) => maySeeHub(context.caller) && (await refusal(context, name, 'get')) === undefined,
    async refusalOf(context, name, verbs) {
      if (!maySeeHub(context.caller)) return { result: 'hidden' };
      const refusals = await Promise.all(verbs.map((verb) => refusal(context, name, verb)));
      const isHidden = verbs.some((verb, index) => verb === 'get' && refusals[index] !== undefined);
      if (isHidden && !verbs.includes('create')) return { result: 'hidden' };
      const [first] = refusals.filter((one) => one !== undefined);
      return first === undefined ? undefined : { result: 'refused', faults: [first] };
    },
    async listed({ caller, signal }, namespaces) {
      if (!maySeeHub(caller)) return () => false;
      const answer = await access.visibilityOf({ caller, cluster, kind, verb: 'list', namespaces }, signal);
      signal.throwIfAborted();
      if (answer.type === 'none' && answer.fault.code !== 'FORBIDDEN') throw hubUnavailable(answer.fault);
      return (namespace) => isVisibleIn(answer, namespace);
    },
  };
}

/** Milliseconds between two checks of the rights of a stream. */
const recheckMs = 60_000;

/**
 * Follows an object while the caller may get and watch it. The rights are checked before each state is passed on, and every 60 s. Of states
 * that arrive during a check, only the newest is passed on. If the caller loses the rights, `listener.ended` is called.
 *
 * `follow` starts after the first check. So its errors, which may name the hub, are only for callers who may watch the object.
 *
 * @throws {MusterError} `FORBIDDEN` if the caller may not watch the object. Otherwise what `follow` throws.
 */
export async function followWithRights<View>(
  { rights, clock }: { readonly rights: HubRights; readonly clock: Clock },
  { context, name, listener }: { readonly context: WriteContext; readonly name: HubObjectName; readonly listener: StateListener<View> },
  follow: (changed: (view: View | undefined) => void, signal: AbortSignal) => void | Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const life = new AbortController();
  const either = AbortSignal.any([signal, life.signal]);
  const during = { ...context, signal: either };
  const isAllowed = async () => (await rights.refusalOf(during, name, ['get', 'watch'])) === undefined;
  const forbidden = () => new MusterError('FORBIDDEN', `${name.namespace}/${name.name} may not be watched`);
  if (!(await isAllowed())) throw forbidden();
  const check = async (): Promise<'allowed' | 'ended' | 'unknown'> => {
    const allowed = await isAllowed().catch(() => undefined);
    if (either.aborted) return 'ended';
    if (allowed !== false) return allowed === true ? 'allowed' : 'unknown';
    life.abort();
    listener.ended(forbidden());
    return 'ended';
  };
  let newest: { readonly view: View | undefined } | undefined;
  let isChecking = false;
  const passOn = async () => {
    if (isChecking) return;
    isChecking = true;
    while (newest !== undefined && !either.aborted) {
      const next: typeof newest = newest;
      newest = undefined;
      const right = await check();
      if (right === 'allowed') listener.changed(next.view);
      if (right !== 'unknown') continue;
      // The state waits for the next interval, because the hub did not answer.
      newest ??= next;
      break;
    }
    isChecking = false;
  };
  await follow((view) => {
    newest = { view };
    void passOn();
  }, either);
  void recheck();

  async function recheck(): Promise<void> {
    while (!either.aborted) {
      await clock.sleep(recheckMs, either);
      if (!either.aborted) await (newest === undefined ? check() : passOn());
    }
  }
}
