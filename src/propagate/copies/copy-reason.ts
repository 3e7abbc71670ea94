import { breakage, faultOf } from '../../cluster/classify.ts';
import type { Fault, FaultCode } from '../../core/faults.ts';
import type { ClusterName } from '../../core/names.ts';
import type { RecordedFault } from '../inventory.ts';
import type { FieldConflict } from '../plan.ts';
import type { CopyReason } from '../propagation.ts';

/** The words API servers have for a field that may not change: most kinds, Services, StatefulSets. */
const immutable = /immutable|may not change once set|updates to \w+ spec for fields other than/;

/** The words of admission: a webhook, or a policy of the cluster. A policy is answered by 422, as its reason is `Invalid` by default. */
const denial = /(?:admission webhook "[^"]*"|ValidatingAdmissionPolicy '[^']*' with binding '[^']*') denied (?:the )?request/;

/** Why a cluster is in its phase, by what it could not do. */
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
      // A webhook that does not answer is no sick server: nothing else of it suffers.
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

/** The fields that others own, as a refused apply names them; empty if it was refused for something else. */
export function conflictsIn({ status }: Fault): readonly FieldConflict[] {
  return (status?.causes ?? [])
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ field = '', message = '' }) => ({ manager: /conflict with "([^"]*)"/.exec(message)?.[1] ?? '', path: field }));
}

/** What happened, in words that hold no value of a manifest: managers, paths, reasons. What the server said itself stands in `fault.status`. */
export function describeFault(fault: Fault): string {
  const conflicts = conflictsIn(fault);
  if (conflicts.length > 0) return `owned by another manager: ${listed(conflicts.map(({ manager, path }) => `${path} (${manager})`))}`;
  const { code, message, status } = fault;
  if (status === undefined) return message;
  const denied = denial.exec(status.message)?.[0];
  if (denied !== undefined) return `${message}: ${denied}`;
  const causes = status.causes.map(({ field, reason }) => [field, reason].filter((text) => text !== undefined).join(': '));
  if (causes.length > 0) return `${message}: ${listed(causes)}`;
  const said = code === 'NOT_FOUND' ? [status.message] : harmless.flatMap((words) => status.message.match(words) ?? []);
  return said.length === 0 ? message : `${message}: ${listed(said)}`;
}

/** The fault of one object in words without values. Of what is sensitive not in the server's own words: they repeat what they refuse, or all of it. */
export function toldFault(fault: Fault, isSensitive: boolean): Fault {
  const { status: _status, ...rest } = fault;
  return { ...(isSensitive ? rest : fault), message: describeFault(fault) };
}

/** The fault as it is kept, counted on if the last one was of the same code. */
export function recordFault(fault: Fault, previous: RecordedFault | undefined, now: string): RecordedFault {
  const same = previous?.code === fault.code ? previous : undefined;
  const message = describeFault(fault).slice(0, mostKept);
  return { code: fault.code, message, since: same?.since ?? now, count: (same?.count ?? 0) + 1 };
}

/** A fault of ours about a copy: nothing was asked, or what was answered does not fit. */
export function copyFault(cluster: ClusterName, code: FaultCode, message: string): Fault {
  return faultOf(breakage(code, message, code === 'CONFLICT' ? 'NEVER' : 'LATER'), { cluster });
}

/**
 * What of a server's own words is told: who may not what, which quota, which webhook; and of an apply that could not be typed the path and what was
 * expected there. What came is a value, and what a webhook says may be anything.
 */
const harmless: readonly RegExp[] = [
  /User "[^"]*" cannot \w+ resource "[^"]*"/g,
  /exceeded quota: [^\s,]+/g,
  /failed calling webhook "[^"]*"/g,
  /(?:illegal base64 data at input byte \d+|quantities must match the regular expression)/g,
  /\.\S+: (?:field not declared in schema|expected [a-z()/ ]*[a-z)]|duplicate entries for key)/g,
];

const mostListed = 5;
/** Of a message that is kept: 200 of them stand in one share. */
const mostKept = 1_024;

function listed(texts: readonly string[]): string {
  const more = texts.length - mostListed;
  return texts.slice(0, mostListed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
