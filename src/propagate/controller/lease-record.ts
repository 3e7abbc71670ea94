import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';

/** As every server since 1.14 serves it: nothing has to be discovered first. */
export const leaseKind: ServedResource = {
  group: 'coordination.k8s.io',
  kind: 'Lease',
  version: 'v1',
  versions: ['v1'],
  resource: 'leases',
  singular: 'lease',
  namespaced: true,
  verbs: ['get', 'patch', 'update'],
  shortNames: [],
  categories: [],
};

/** Who takes a Lease, and when: milliseconds of the epoch. */
export interface Claim {
  readonly identity: string;
  readonly nowMs: number;
  readonly leaseMs: number;
}

/** The spec of a Lease that is taken, or renewed if it is ours already. `before` undefined: there is none yet. */
export function claimedSpec(before: KubernetesObject | undefined, { identity, nowMs, leaseMs }: Claim): JsonObject {
  const { acquireTime, leaseTransitions } = specOf(before);
  const at = microTime(nowMs);
  const isOurs = holderOf(before) === identity;
  const transitions = typeof leaseTransitions === 'number' ? leaseTransitions : 0;
  return {
    ...specOf(before),
    holderIdentity: identity,
    leaseDurationSeconds: leaseMs / 1_000,
    renewTime: at,
    acquireTime: isOurs ? (acquireTime ?? at) : at,
    leaseTransitions: isOurs || before === undefined ? transitions : transitions + 1,
  };
}

/** The spec of a Lease that is given back: whoever waits may take it at once. */
export function releasedSpec(before: KubernetesObject, nowMs: number): JsonObject {
  const { leaseTransitions = 0 } = specOf(before);
  const at = microTime(nowMs);
  return { holderIdentity: '', leaseDurationSeconds: 1, renewTime: at, acquireTime: at, leaseTransitions };
}

/** Empty: nobody. */
export function holderOf(lease: KubernetesObject | undefined): string {
  const { holderIdentity } = specOf(lease);
  return typeof holderIdentity === 'string' ? holderIdentity : '';
}

/** What is compared to see whether anybody renewed it. */
export function textOfRecord(lease: KubernetesObject): string {
  return JSON.stringify(specOf(lease));
}

function specOf(lease: KubernetesObject | undefined): JsonObject {
  const spec: Json | undefined = lease?.spec;
  return isJsonObject(spec) ? spec : {};
}

/** `2026-01-01T00:00:00.000000Z`: the MicroTime of Kubernetes. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace(/Z$/, '000Z');
}
