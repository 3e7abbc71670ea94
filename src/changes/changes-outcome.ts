import type { Access } from '../access/access.ts';
import type { Audit } from '../audit/audit.ts';
import { audited } from '../audit/audited.ts';
import type { Clock } from '../core/clock.ts';
import { sha256Of } from '../core/json/canonical-json.ts';
import { type GroupKind, groupOfApiVersion } from '../core/kinds.ts';
import type { Log } from '../core/log.ts';
import type { ClusterName } from '../core/names.ts';
import { redact } from '../core/redaction.ts';
import { diffOf } from '../manifests/diff.ts';
import type { Manifest } from '../manifests/manifest.ts';
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
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
}

/** One mutation field that writes single objects. */
export interface RecordedMutation {
  readonly context: WriteContext;
  /** The name of the field. */
  readonly verb: string;
  readonly dryRun: boolean;
  /** Default: false. */
  readonly force?: boolean;
}

/** The results of the writes that were sent. */
export interface SentWrites {
  readonly results: readonly ObjectChangeResult[];
  /** The manifests that were applied. Default: none. */
  readonly manifests?: readonly Manifest[];
}

/**
 * Carries out the writes of a mutation, and records them in the audit and, except for a dry run, in the log.
 *
 * @param write Returns the results of all writes that were sent, also after an abort.
 * @throws The reason of an abort, because no caller is left to receive the results. They are recorded before.
 */
export async function recordChanges(
  { audit, isSensitive, log }: ObjectChangesOptions,
  { context, verb, dryRun, force = false }: RecordedMutation,
  write: () => Promise<SentWrites>,
): Promise<ObjectChangesOutcome> {
  const { caller, requestId, signal } = context;
  const { results } = await audited(
    audit,
    { caller, requestId, verb, dryRun, force },
    {
      run: write,
      factsOf: ({ results: all, manifests = [] }) => ({
        manifestHash: hashOf(manifests, isSensitive),
        objects: all.map(({ cluster, key, uid, action, fault }) => ({ cluster, ...key, uid, result: action, code: fault?.code })),
      }),
    },
  );
  if (!dryRun) logWrites(log, { context, verb: force ? `${verb} --force` : verb, results });
  signal.throwIfAborted();
  return { ok: results.every(({ action }) => action !== 'FAILED'), results };
}

/** Makes one write. Undefined if the signal has aborted before the write, or while its target was looked up. */
export async function unlessAborted<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  try {
    return await write();
  } catch (error) {
    if (!signal.aborted) throw error;
    return undefined;
  }
}

/** Returns a hash of the manifests. Undefined if there are none, or if one is of a sensitive kind: short values could be found by trying. */
function hashOf(manifests: readonly Manifest[], isSensitive: ObjectChangesOptions['isSensitive']): string | undefined {
  const isSafe = manifests.every(({ apiVersion, kind }) => !isSensitive({ group: groupOfApiVersion(apiVersion), kind }));
  return manifests.length > 0 && isSafe ? sha256Of(manifests) : undefined;
}

/** Logs one line per write: the caller, the action and the object, without values. */
function logWrites(
  log: Log,
  { context, verb, results }: { readonly context: WriteContext; readonly verb: string; readonly results: readonly ObjectChangeResult[] },
): void {
  for (const { cluster, key, action, fault } of results) {
    const failed = fault === undefined ? {} : { fault: fault.code };
    log.info({ cluster, ...key, action, verb, caller: context.caller.user?.user ?? context.caller.key, ...failed }, 'wrote an object');
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
