import { breakage, faultOf } from '../../../cluster/classify.ts';
import type { Fault, FaultCode } from '../../../core/faults.ts';
import type { ClusterName } from '../../../core/names.ts';
import type { RecordedFault } from '../../model/inventory.ts';
import type { FieldConflict } from '../../model/plan.ts';
import type { CopyReason } from '../../model/propagation.ts';

/** Matches the messages of API servers for immutable fields: of most kinds, of Services, of StatefulSets. */
const immutable = /immutable|may not change once set|updates to \w+ spec for fields other than/;

/**
 * Matches the messages of a denied admission, by a webhook or by a policy. A denial by a policy has status 422, because its default reason
 * is `Invalid`.
 */
const denial = /(?:admission webhook "[^"]*"|ValidatingAdmissionPolicy '[^']*' with binding '[^']*') denied (?:the )?request/;

/** Returns the reason that a cluster or copy shows for a fault. */
export function reasonOf(fault: Fault): CopyReason {
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
      if (denial.test(status?.message ?? '')) return 'Denied';
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

/** Returns the fields of other managers that caused a refused apply. Empty if the apply was refused for another reason. */
export function conflictsIn({ status }: Fault): readonly FieldConflict[] {
  return (status?.causes ?? [])
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ field = '', message = '' }) => ({ manager: /conflict with "([^"]*)"/.exec(message)?.[1] ?? '', path: field }));
}

/**
 * Describes a fault with managers, paths and reasons, without any value of a manifest. The original message of the server is in
 * `fault.status`, and may hold such values.
 */
export function describeFault(fault: Fault): string {
  const conflicts = conflictsIn(fault);
  if (conflicts.length > 0) return `owned by another manager: ${listed(conflicts.map(({ manager, path }) => `${path} (${manager})`))}`;
  const { code, message, status } = fault;
  if (status === undefined) return message;
  const denied = denial.exec(status.message)?.[0];
  if (denied !== undefined) return `${message}: ${denied}`;
  const causes = status.causes.map(({ field, reason }) => [field, reason].filter((text) => text !== undefined).join(': '));
  if (causes.length > 0) return `${message}: ${listed(causes)}`;
  const excerpts = code === 'NOT_FOUND' ? [status.message] : harmless.flatMap((pattern) => status.message.match(pattern) ?? []);
  return excerpts.length === 0 ? message : `${message}: ${listed(excerpts)}`;
}

/**
 * Returns the fault of one object with a message that contains no values. For a sensitive object, the original message of the server is
 * removed too: it may repeat the refused value or the whole object.
 */
export function toldFault(fault: Fault, isSensitive: boolean): Fault {
  const { status: _status, ...rest } = fault;
  return { ...(isSensitive ? rest : fault), message: describeFault(fault) };
}

/**
 * Returns the fault as the inventory records it. If the previous fault had the same code, its start time stays and its count goes up by
 * one.
 */
export function recordFault(fault: Fault, previous: RecordedFault | undefined, now: string): RecordedFault {
  const same = previous?.code === fault.code ? previous : undefined;
  const message = describeFault(fault).slice(0, mostKept);
  return { code: fault.code, message, since: same?.since ?? now, count: (same?.count ?? 0) + 1 };
}

/** Returns a fault that Muster itself found for a copy: no call was made, or the answer does not fit. */
export function copyFault(cluster: ClusterName, code: FaultCode, message: string): Fault {
  return faultOf(breakage(code, message, code === 'CONFLICT' ? 'NEVER' : 'LATER'), { cluster });
}

/**
 * Excerpts of server messages that contain no values, so they may be shown. They name the forbidden verb and resource, the quota, or the
 * webhook. For an apply with wrong types they name the path and the expected type. The text of a webhook itself is never shown, because it
 * may contain anything.
 */
const harmless: readonly RegExp[] = [
  /User "[^"]*" cannot \w+ resource "[^"]*"/g,
  /exceeded quota: [^\s,]+/g,
  /failed calling webhook "[^"]*"/g,
  /(?:illegal base64 data at input byte \d+|quantities must match the regular expression)/g,
  /\.\S+: (?:field not declared in schema|expected [a-z()/ ]*[a-z)]|duplicate entries for key)/g,
];

const mostListed = 5;
/** Maximum length of a recorded message, in characters. One ClusterShare holds up to 200 messages. */
const mostKept = 1_024;

function listed(texts: readonly string[]): string {
  const more = texts.length - mostListed;
  return texts.slice(0, mostListed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
