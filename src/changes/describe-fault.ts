import type { Fault } from '../core/faults.ts';
import { shortenedList } from '../core/text.ts';

/**
 * Returns a message for a fault that users may see: with managers, paths and reasons, but without any value of a manifest. The original
 * message of the server, in `fault.status`, may contain such values.
 */
export function describeFault(fault: Fault): string {
  const conflicts = conflictsIn(fault);
  const owners = conflicts.map(({ manager, path }) => `${path} (${manager})`);
  if (owners.length > 0) return `owned by another manager: ${shortenedList(owners, maxListed)}`;
  const { code, message, status } = fault;
  if (status === undefined) return message;
  const denied = admissionDenial.exec(status.message)?.[0];
  if (denied !== undefined) return `${message}: ${denied}`;
  const causes = status.causes.map(({ field, reason }) => [field, reason].filter((text) => text !== undefined).join(': '));
  if (causes.length > 0) return `${message}: ${shortenedList(causes, maxListed)}`;
  const excerpts = code === 'NOT_FOUND' ? [status.message] : harmless.flatMap((pattern) => status.message.match(pattern) ?? []);
  return excerpts.length === 0 ? message : `${message}: ${shortenedList(excerpts, maxListed)}`;
}

/** Returns the fields of other managers that caused a refused apply. Empty if the apply was refused for another reason. */
export function conflictsIn({ status }: Fault): readonly FieldManagerConflict[] {
  return (status?.causes ?? [])
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ field = '', message = '' }) => ({ manager: /conflict with "([^"]*)"/.exec(message)?.[1] ?? '', path: field }));
}

/**
 * Returns the fault of one object with a message that contains no values. For a sensitive object, the original message of the server is
 * removed too: it may repeat the refused value or the whole object.
 */
export function redactedFault(fault: Fault, isSensitive: boolean): Fault {
  const { status: _status, ...rest } = fault;
  return { ...(isSensitive ? rest : fault), message: describeFault(fault) };
}

/**
 * Matches the messages of a denied admission, by a webhook or by a policy. A denial by a policy has status 422, because its default reason
 * is `Invalid`.
 */
export const admissionDenial =
  /(?:admission webhook "[^"]*"|ValidatingAdmissionPolicy '[^']*' with binding '[^']*') denied (?:the )?request/;

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

/** Maximum number of conflicts, causes or excerpts in a message. */
const maxListed = 5;

export interface FieldManagerConflict {
  readonly manager: string;
  readonly path: string;
}
