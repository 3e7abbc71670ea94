import type { V1Lease, V1LeaseSpec } from '@kubernetes/client-node';
import { V1MicroTime } from '../../../cluster/typed-api.ts';

/** Who takes a Lease, and when: milliseconds of the epoch. */
export interface LeaseClaim {
  readonly identity: string;
  readonly nowMs: number;
  readonly leaseMs: number;
}

/** The spec of a Lease that is taken, or renewed if it is ours already. `before` undefined: there is none yet. */
export function claimedSpec(before: V1Lease | undefined, { identity, nowMs, leaseMs }: LeaseClaim): V1LeaseSpec {
  const { acquireTime, leaseTransitions = 0 } = before?.spec ?? {};
  const at = new V1MicroTime(nowMs);
  const isOurs = holderOf(before) === identity;
  return {
    ...before?.spec,
    holderIdentity: identity,
    leaseDurationSeconds: leaseMs / 1_000,
    renewTime: at,
    acquireTime: isOurs ? (acquireTime ?? at) : at,
    leaseTransitions: isOurs || before === undefined ? leaseTransitions : leaseTransitions + 1,
  };
}

/** The spec of a Lease that is given back: whoever waits may take it at once. */
export function releasedSpec({ spec }: V1Lease, nowMs: number): V1LeaseSpec {
  const at = new V1MicroTime(nowMs);
  return { holderIdentity: '', leaseDurationSeconds: 1, renewTime: at, acquireTime: at, leaseTransitions: spec?.leaseTransitions ?? 0 };
}

/** Empty: nobody. */
export function holderOf(lease: V1Lease | undefined): string {
  return lease?.spec?.holderIdentity ?? '';
}

/** What is compared to see whether anybody renewed it. */
export function textOfRecord({ spec }: V1Lease): string {
  return JSON.stringify(spec ?? {});
}
