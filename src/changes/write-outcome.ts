import type { Access, Caller } from '../access/access.ts';
import type { Clock } from '../core/clock.ts';
import type { GroupKind } from '../core/kinds.ts';
import type { Log } from '../core/log.ts';
import type { ClusterName } from '../core/names.ts';
import { redact } from '../core/redaction.ts';
import { diffOf } from '../manifests/diff.ts';
import { toldFault } from './describe-fault.ts';
import type { Members } from './members.ts';
import type { ObjectClient } from './object-client.ts';
import type { WriteOutcome, WriteResult } from './object-writes.ts';
import type { WriteContext } from './write-context.ts';
import type { OneWrite } from './write-one.ts';

/** The services that changes of single objects use. */
export interface ObjectWritesOptions {
  readonly members: Members;
  readonly access: Access;
  /** Returns a client that writes as the caller. Undefined if the cluster is not in the fleet. */
  readonly clientOf: (cluster: ClusterName, caller: Caller) => ObjectClient | undefined;
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
export function outcomeOf(results: readonly WriteResult[], signal: AbortSignal): WriteOutcome {
  signal.throwIfAborted();
  return { ok: results.every(({ action }) => action !== 'FAILED'), results };
}

/** Logs one line per write: the caller, the action and the object, without values. */
export function tell(
  log: Log,
  { context, verb, results }: { readonly context: WriteContext; readonly verb: string; readonly results: readonly WriteResult[] },
): void {
  for (const { cluster, key, action, fault } of results) {
    const failed = fault === undefined ? {} : { fault: fault.code };
    log.info({ cluster, ...key, action, verb, caller: context.caller.key, ...failed }, 'wrote an object');
  }
}

/**
 * Creates the functions that remove values which may not be shown. `managedFields` are always removed. For a sensitive kind, only metadata
 * remains: no diff and no message of the server.
 */
export function createShown(isSensitive: boolean): OneWrite['shown'] {
  return {
    metadataOnly: isSensitive,
    object: (object) => redact(object, { sensitive: isSensitive, live: false }),
    diff: (before, after) => diffOf({ before, after, isSensitive }),
    fault: (fault) => (isSensitive ? toldFault(fault, true) : fault),
  };
}
