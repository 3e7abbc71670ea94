import type { GroupKind } from './kinds.ts';
import type { ClusterName } from './names.ts';

/** What one cluster could not do. Equal to the schema's `FaultCode`. */
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

/** Whether the same request may succeed: at once, after a while, or not before somebody changes something. */
export type Retry = 'NOW' | 'LATER' | 'NEVER';

/** What an API server itself said: its `Status` (Kubernetes API conventions, "Response Status Kind"). */
export interface ApiStatus {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
  readonly causes: readonly { readonly reason?: string; readonly field?: string; readonly message?: string }[];
}

/** Data, never thrown: it travels beside the results. The message holds neither host nor secret nor body. */
export interface Fault {
  readonly code: FaultCode;
  readonly cluster: ClusterName;
  readonly kind?: GroupKind;
  readonly message: string;
  readonly retry: Retry;
  /** Milliseconds of the epoch since when it has held, where that is known. */
  readonly sinceMs?: number;
  readonly status?: ApiStatus;
}

/** What could be read, and what could not. */
export interface Gathered<T> {
  readonly items: readonly T[];
  readonly faults: readonly Fault[];
}
