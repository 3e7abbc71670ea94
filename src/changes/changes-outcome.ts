import type { Access } from '../access/access.ts';
import type { Clock } from '../core/clock.ts';
import type { GroupKind } from '../core/kinds.ts';
import type { Log } from '../core/log.ts';
import type { ClusterName } from '../core/names.ts';
import { redact } from '../core/redaction.ts';
import { diffOf } from '../manifests/diff.ts';
import { redactedFault } from './describe-fault.ts';
import type { Members } from './members.ts';
import type { ObjectChangeResult, ObjectChangesOutcome } from './object-changes.ts';
import type { ObjectClient } from './object-client.ts';
import type { WriteContext } from './write-context.ts';
import type { ObjectWrite } from './write-object.ts';

/** The services that changes of single objects use. */
export interface ObjectChangesOptions {
  readonly members: Members;
  readonly access: Access;
  /** Returns a client that writes as the caller. Undefined if the cluster is not in the fleet. */
  readonly clientOf: (cluster: ClusterName, context: WriteContext) => ObjectClient | undefined;
  /** True for kinds whose values may not be shown. */
  readonly isSensitive: (kind: GroupKind) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Combines the results of all writes.
 *
 * @throws The reason of the abort, because no caller is left to receive the results.
 */
export function changesOutcomeOf(results: readonly ObjectChangeResult[], signal: AbortSignal): ObjectChangesOutcome {
  signal.throwIfAborted();
  return { ok: results.every(({ action }) => action !== 'FAILED'), results };
}

/** Logs one line per write: the caller, the action and the object, without values. */
export function logWrites(
  log: Log,
  { context, verb, results }: { readonly context: WriteContext; readonly verb: string; readonly results: readonly ObjectChangeResult[] },
): void {
  for (const { cluster, key, action, fault } of results) {
    const failed = fault === undefined ? {} : { fault: fault.code };
    log.info({ cluster, ...key, action, verb, caller: context.caller.key, ...failed }, 'wrote an object');
  }
}

/**
 * Creates the functions that remove values which may not be shown. `managedFields` are always removed. For a sensitive kind, the object
 * keeps only its metadata. The diff shows keys without values, and the fault loses the message of the server.
 */
export function createRedaction(isSensitive: boolean): ObjectWrite['redaction'] {
  return {
    metadataOnly: isSensitive,
    object: (object) => redact(object, { sensitive: isSensitive, live: false }),
    diff: (before, after) => diffOf({ before, after, isSensitive }),
    fault: (fault) => (isSensitive ? redactedFault(fault, true) : fault),
  };
}
