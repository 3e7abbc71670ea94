import type { GroupKind } from './kinds.ts';
import type { ClusterName } from './names.ts';

/** Problems of one cluster. Equal to the schema's `FaultCode`. */
export const faultCodes = [
  'UNREACHABLE',
  'TIMED_OUT',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_SERVED',
  'NOT_FOUND',
  'CONFLICT',
  'INVALID',
  'THROTTLED',
  'EXPIRED',
  'SYNCING',
  'TOO_LARGE',
  'MALFORMED',
  'MISFIT',
  'SERVER_ERROR',
  'INSECURE',
  'DUPLICATE',
  'GONE',
] as const;

export type FaultCode = (typeof faultCodes)[number];

/**
 * Whether the same request may succeed later. `NOW`: a retry may succeed at once. `LATER`: after some time. `NEVER`: only after a change
 * by a person.
 */
export type Retry = 'NOW' | 'LATER' | 'NEVER';

/** The `Status` that an API server sent (Kubernetes API conventions, "Response Status Kind"). */
export interface ApiStatus {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
  readonly causes: readonly { readonly reason?: string; readonly field?: string; readonly message?: string }[];
}

/** A problem of one cluster, as data next to the results. It is never thrown. The message holds no host, secret or body. */
export interface Fault {
  readonly code: FaultCode;
  readonly cluster: ClusterName;
  readonly kind?: GroupKind;
  readonly message: string;
  readonly retry: Retry;
  /** The start of the problem in Unix milliseconds, if it is known. */
  readonly sinceMs?: number;
  readonly status?: ApiStatus;
  /** Another cluster that the message names. A caller who may not see that cluster does not get the fault. Default: none. */
  readonly other?: ClusterName;
}

/** The facts of a fault besides its code and its message. */
type FaultFacts = Omit<Fault, 'code' | 'message'>;

/** Returns a fault. `retry` has no default, because it depends on the request and not only on the code. */
export function fault(code: FaultCode, message: string, facts: FaultFacts): Fault {
  return { code, message, ...facts };
}

/** The results of a request to several clusters, and the faults of the clusters that failed. */
export interface Gathered<T> {
  readonly items: readonly T[];
  readonly faults: readonly Fault[];
}
