import { fieldManager } from '../../../changes/object-client.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Fault } from '../../../core/faults.ts';
import { callHub, type HubConnection } from '../../hub/hub.ts';
import { copyFault } from '../../plan/copies/copy-reason.ts';

/** The namespace is being deleted. No namespace has this name. */
const beingDeleted = Symbol('being deleted');

/** The configured namespace of the Lease, and whether another one may be used. */
export interface LeaseNamespaceRule {
  readonly namespace: string;
  /** True: the Lease is in no other namespace. False: it is in `default` if the gateway has no rights to `namespace`. */
  readonly isRequired: boolean;
}

/** Chooses the namespace of the Lease. Called again whenever the Lease cannot stay in its namespace. */
export interface LeaseNamespaceChoice {
  choose(signal: AbortSignal): Promise<string | { readonly fault: Fault }>;
}

/** Maximum time to wait for the deletion of the Namespace. A deletion usually takes seconds. With a finalizer, it may never end. */
const terminatingMs = 30_000;

/**
 * Creates the part that chooses the namespace of the Lease. The namespace is created if needed. Without the rights for it, the Lease is in
 * `default`, or, if `isRequired`, in the namespace all the same.
 *
 * While the namespace is being deleted, `choose` returns a fault, and the caller tries again. After 30 s of deletion, it returns `default`,
 * unless `isRequired`.
 */
export function createLeaseNamespace(hub: HubConnection, rule: LeaseNamespaceRule, clock: Pick<Clock, 'monotonic'>): LeaseNamespaceChoice {
  const { namespace, isRequired } = rule;
  let terminatingSinceMs: number | undefined;
  return {
    async choose(signal) {
      const found = await leaseNamespaceOf(hub, rule, signal);
      if (found !== beingDeleted) {
        terminatingSinceMs = undefined;
        return found;
      }
      terminatingSinceMs ??= clock.monotonic();
      if (!isRequired && clock.monotonic() - terminatingSinceMs > terminatingMs) return 'default';
      return { fault: copyFault(hub.cluster, 'CONFLICT', `the Namespace ${namespace} of the Lease is being deleted`) };
    },
  };
}

/**
 * Returns the namespace of the Lease:
 *
 * - the named one, which is created if it does not exist
 * - `default`, if the gateway may neither read nor create the named one, unless `isRequired`
 * - `beingDeleted`, while the named one is being deleted
 * - a fault, if the hub does not answer
 *
 * Two processes with different rights may choose different namespaces, so that both lead. This is slower, but not wrong: two leaders
 * produce the same copies as one leader (docs/promises.md, D3).
 */
export async function leaseNamespaceOf(
  hub: HubConnection,
  { namespace, isRequired }: LeaseNamespaceRule,
  signal: AbortSignal,
): Promise<string | typeof beingDeleted | { readonly fault: Fault }> {
  const fallback = isRequired ? namespace : 'default';
  const found = await callHub(hub, ({ CoreV1Api }, transport) => new CoreV1Api(transport).readNamespace({ name: namespace }), signal);
  if (found.result === 'answered') return found.value.metadata?.deletionTimestamp === undefined ? namespace : beingDeleted;
  if (found.fault.code !== 'NOT_FOUND') return isRefusal(found.fault) ? fallback : { fault: found.fault };
  const request = { body: { metadata: { name: namespace } }, fieldManager };
  const made = await callHub(hub, ({ CoreV1Api }, transport) => new CoreV1Api(transport).createNamespace(request), signal);
  // A conflict means that another gateway has just created the Namespace.
  if (made.result === 'answered' || made.fault.code === 'CONFLICT') return namespace;
  return isRefusal(made.fault) ? fallback : { fault: made.fault };
}

/** True if another attempt would not help, because rights are missing or a policy refuses. */
function isRefusal({ code }: Fault): boolean {
  return code === 'FORBIDDEN' || code === 'INVALID';
}
