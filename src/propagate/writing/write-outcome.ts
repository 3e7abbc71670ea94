import type { Access, Caller } from '../../access/access.ts';
import type { Clock } from '../../core/clock.ts';
import type { GroupKind } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import { redact } from '../../core/redaction.ts';
import { toldFault } from '../copies/copy-reason.ts';
import type { Members } from '../members.ts';
import type { ObjectClient } from '../object-client.ts';
import type { WriteOutcome, WriteResult } from '../object-writes.ts';
import type { WriteContext } from '../propagations.ts';
import { diffOf } from '../rendering/diff.ts';
import type { OneWrite } from './write-one.ts';

/** What changes of single objects work with. */
export interface ObjectWritesOptions {
  readonly members: Members;
  readonly access: Access;
  /** The objects of a cluster, written as the caller. Undefined if it is no member. */
  readonly clientOf: (cluster: ClusterName, caller: Caller) => ObjectClient | undefined;
  /** Kinds of which no value may be shown. */
  readonly isSensitive: (kind: GroupKind) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** @throws the reason of the abort: nobody is there to be told. */
export function outcomeOf(results: readonly WriteResult[], signal: AbortSignal): WriteOutcome {
  signal.throwIfAborted();
  return { ok: results.every(({ action }) => action !== 'FAILED'), results };
}

/** One line for each write that was sent: who did what to which object, without values. */
export function tell(
  log: Log,
  { context, verb, results }: { readonly context: WriteContext; readonly verb: string; readonly results: readonly WriteResult[] },
): void {
  for (const { cluster, key, action, fault } of results) {
    const failed = fault === undefined ? {} : { fault: fault.code };
    log.info({ cluster, ...key, action, verb, caller: context.caller.key, ...failed }, 'an object was written');
  }
}

/** What may be told of objects of a kind: no `managedFields`; of a sensitive one neither values nor what they change to, nor a server's words about them. */
export function createShown(isSensitive: boolean): OneWrite['shown'] {
  return {
    metadataOnly: isSensitive,
    object: (object) => redact(object, { sensitive: isSensitive, live: false }),
    diff: (before, after) => diffOf({ before, after, isSensitive }),
    fault: (fault) => (isSensitive ? toldFault(fault, true) : fault),
  };
}
