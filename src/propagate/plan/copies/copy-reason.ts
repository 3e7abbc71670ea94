import { admissionDenial, describeFault } from '../../../changes/describe-fault.ts';
import { clusterFailure, faultOfFailure } from '../../../cluster/cluster-failure.ts';
import type { Fault, FaultCode } from '../../../core/faults.ts';
import type { ClusterName } from '../../../core/names.ts';
import type { RecordedFault } from '../../model/inventory.ts';
import type { CopyReason } from '../../model/propagation.ts';

/** Matches the messages of API servers for immutable fields: of most kinds, of Services, of StatefulSets. */
const immutable = /immutable|may not change once set|updates to \w+ spec for fields other than/;

/** Returns the reason that a cluster or copy shows for a fault. */
export function copyReasonOf(fault: Fault): CopyReason {
  const { code, status } = fault;
  switch (code) {
    case 'CONFLICT':
    case 'DUPLICATE':
      return 'Conflict';
    case 'FORBIDDEN':
      if (status?.causes.some(({ reason }) => reason === 'NamespaceTerminating') === true) return 'Terminating';
      return status?.message.includes('exceeded quota') === true ? 'Quota' : 'Denied';
    case 'UNAUTHENTICATED':
      return 'Denied';
    case 'NOT_FOUND':
      return 'NamespaceMissing';
    case 'NOT_SERVED':
      return 'ApiMissing';
    case 'INVALID':
      if (admissionDenial.test(status?.message ?? '')) return 'Denied';
      return status?.causes.some(({ message = '' }) => immutable.test(message)) === true ? 'Immutable' : 'Invalid';
    case 'MISFIT':
    case 'TOO_LARGE':
      return 'Invalid';
    case 'SERVER_ERROR':
      // Only the webhook does not answer. The API server itself is reachable.
      return status?.message.includes('failed calling webhook') === true ? 'Denied' : 'Unreachable';
    case 'UNREACHABLE':
    case 'TIMED_OUT':
    case 'THROTTLED':
    case 'EXPIRED':
    case 'SYNCING':
    case 'MALFORMED':
    case 'INSECURE':
    case 'GONE':
      return 'Unreachable';
    default:
      return code satisfies never;
  }
}

/**
 * Returns the fault as the inventory records it. If the previous fault had the same code, its start time stays and its count goes up by
 * one.
 */
export function recordFault(fault: Fault, previous: RecordedFault | undefined, now: string): RecordedFault {
  const same = previous?.code === fault.code ? previous : undefined;
  const message = describeFault(fault).slice(0, maxMessageLength);
  return { code: fault.code, message, since: same?.since ?? now, count: (same?.count ?? 0) + 1 };
}

/**
 * Creates a fault that Muster itself finds for a copy, without an error from the API server. A `CONFLICT` is not retried, and every other
 * code is retried later.
 */
export function copyFault(cluster: ClusterName, code: FaultCode, message: string): Fault {
  return faultOfFailure(clusterFailure(code, message, code === 'CONFLICT' ? 'NEVER' : 'LATER'), { cluster });
}
/** Maximum length of a recorded message, in characters. One ClusterShare holds up to 200 messages. */
const maxMessageLength = 1_024;
