import type { V1Lease, V1LeaseSpec } from '@kubernetes/client-node';
import { V1MicroTime } from '../../../cluster/typed-api.ts';

/** The holder of a Lease, the current time in Unix milliseconds, and the time for which the Lease is valid. */
export interface LeaseClaim {
  readonly identity: string;
  readonly nowMs: number;
  readonly leaseMs: number;
}

/**
 * Returns the spec of a Lease that this process acquires, or renews if it holds the Lease. `before` is undefined if there is no Lease yet.
 */
export function claimedSpec(before: V1Lease | undefined, { identity, nowMs, leaseMs }: LeaseClaim): V1LeaseSpec {
  const { acquireTime, leaseTransitions = 0 } = before?.spec ?? {};
  const at = new V1MicroTime(nowMs);
  const isOurs = leaseHolderOf(before) === identity;
  return {
    ...before?.spec,
    holderIdentity: identity,
    leaseDurationSeconds: leaseMs / 1_000,
    renewTime: at,
    acquireTime: isOurs ? (acquireTime ?? at) : at,
    leaseTransitions: isOurs || before === undefined ? leaseTransitions : leaseTransitions + 1,
  };
}

/** Returns the spec of a released Lease, which another process may acquire at once. */
export function releasedSpec({ spec }: V1Lease, nowMs: number): V1LeaseSpec {
  const at = new V1MicroTime(nowMs);
  return { holderIdentity: '', leaseDurationSeconds: 1, renewTime: at, acquireTime: at, leaseTransitions: spec?.leaseTransitions ?? 0 };
}

/** Returns the identity of the holder. Empty: none. */
export function leaseHolderOf(lease: V1Lease | undefined): string {
  return lease?.spec?.holderIdentity ?? '';
}

/** Returns a text that changes with each renewal of the Lease. */
export function textOfRecord({ spec }: V1Lease): string {
  return JSON.stringify(spec ?? {});
}
