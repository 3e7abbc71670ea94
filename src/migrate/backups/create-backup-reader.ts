import type { IdentityVisibility } from '../../changes/acting-clients.ts';
import type { Members } from '../../changes/members.ts';
import type { ConfiguredBackups } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import { invariant, MusterError } from '../../core/errors.ts';
import { type Fault, fault } from '../../core/faults.ts';
import type { JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { isSecret, redact } from '../../core/redaction.ts';
import { FairSemaphore } from '../../core/scheduling/fair-semaphore.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey, textOfKey } from '../../manifests/object-key.ts';
import type { ClientOf } from '../../propagate/plan/snapshot/plan-request.ts';
import { kindsToRead } from '../discover/app-kinds.ts';
import {
  type BackupReadRequest,
  backupBounds,
  backupUserOf,
  type DiscoveredObject,
  indexSourceObjects,
  type ReadBackup,
} from '../discover/source-objects.ts';
import type { MigrationSpec } from '../model/migration.ts';
import type { MigrationNote } from '../model/migration-plan.ts';
import { type BackupLimits, backupKind, readBackup } from './read-backup.ts';

export interface BackupReaderPorts {
  readonly members: Members;
  readonly clientOf: ClientOf;
  /** The clusters that the requester may see. Backups in other clusters are not found. Default: all clusters. */
  readonly visibility?: IdentityVisibility | undefined;
  readonly config: ConfiguredBackups;
  /** With `visibility`: networks that download URLs may lead to although they are private. Default: none. */
  readonly allowPrivate?: readonly string[] | undefined;
  readonly clock: Clock;
  /** Default: the real bounds. */
  readonly limits?: BackupLimits;
}

/**
 * Creates the reader of backups for the planner and the engine. Reads the kinds that can belong to applications, in the namespaces of the
 * spec. Each call reads the archive once and keeps nothing. Data of Secrets are only in `secretData`. Users take turns: `backupBounds`.
 */
export function createBackupReader({
  members,
  clientOf,
  visibility,
  config,
  allowPrivate = [],
  clock,
  limits,
}: BackupReaderPorts): ReadBackup {
  const semaphore = new FairSemaphore(backupBounds);
  const read: ReadBackup = async (request, signal) => {
    const { spec } = request;
    invariant(spec.backup !== undefined, 'a spec with the source Velero has a backup');
    const denied = visibility && spec.backup.file !== undefined ? refusedFile(config, spec) : undefined;
    if (denied !== undefined) return { result: 'failed', note: denied };
    const isVisible = await visibility?.clusters(spec, signal);
    const ports = {
      members: isVisible === undefined ? members : { ...members, all: () => members.all().filter(({ name }) => isVisible(name)) },
      ...{ config, clock },
      ...(visibility && { allowPrivate }),
      refusalOf: visibility && ((cluster: ClusterName) => refusedBackups(visibility, { cluster, spec }, signal)),
      clientOf: (cluster: Parameters<ClientOf>[0]) => clientOf(cluster, spec),
      ...(limits && { limits }),
    };
    const kinds = kindsToRead((spec.apps ?? []).map(({ key }) => groupKindOfKey(key)));
    const answer = await readBackup(ports, { spec: spec.backup, from: spec.from, namespaces: namespacesOf(request), kinds }, signal);
    if (answer.result === 'refused') {
      const { code, message, faults } = answer;
      if (code === 'BAD_INPUT') throw new MusterError(code, message);
      const [first] = faults;
      return { result: 'failed', note: { severity: 'ERROR', code, message, path: 'backup' }, ...(first && { fault: first }) };
    }
    const data = new Map<string, JsonObject>();
    const objects = answer.objects.map((object): DiscoveredObject => {
      const key = keyOf(object);
      if (!isSecret(groupKindOfKey(key))) return { key, object };
      data.set(textOfKey(key), objectAt(object, 'data'));
      return { key, object: withoutData(object) };
    });
    const backup = { used: answer.backup, secretData: (key: ObjectKey) => data.get(textOfKey(key)) };
    return { result: 'read', objects: indexSourceObjects(objects, backup) };
  };
  return async (request, signal) => {
    const ran = await semaphore.run(backupUserOf(request.spec), () => read(request, signal), signal);
    if (ran.result !== 'done') throw signal.reason;
    return ran.value;
  };
}

/**
 * Returns why the requester may not read archives of the configured folders. An archive has all objects of a cluster, with the data of
 * Secrets, and no API server decides about it.
 */
function refusedFile({ groups }: ConfiguredBackups, { requester }: MigrationSpec): MigrationNote | undefined {
  if (requester?.groups.some((group) => groups.includes(group))) return undefined;
  const message = 'expected a requester in a group of `backups.groups` of the config file: only they may read archives of its folders';
  return { severity: 'ERROR', code: 'DENIED', message, path: 'backup.file' };
}

interface BackupsInCluster {
  readonly cluster: ClusterName;
  readonly spec: MigrationSpec;
}

/** Returns why the requester may not get the Backup that the spec names, or list the Backups that it selects. Undefined: the requester may. */
async function refusedBackups(
  visibility: IdentityVisibility,
  { cluster, spec }: BackupsInCluster,
  signal: AbortSignal,
): Promise<Fault | undefined> {
  invariant(spec.backup !== undefined, 'a spec with the source Velero has a backup');
  const { namespace, name } = spec.backup;
  const kind = backupKind;
  if (name !== undefined) return visibility.refusalOf(spec, { cluster, kind, verb: 'get', object: { namespace, name } }, signal);
  const listed = await visibility.objects(spec, { cluster, kind, verb: 'list', namespaces: [namespace] }, signal);
  if (listed.has(namespace)) return undefined;
  const message = `${spec.requester?.user} may not list Backups in the namespace ${namespace}`;
  return listed.fault ?? fault('FORBIDDEN', message, { cluster, kind, retry: 'NEVER' });
}

function namespacesOf({ namespace, spec: { apps, namespaces } }: BackupReadRequest): readonly string[] {
  return apps?.map(({ key }) => key.namespace ?? namespace) ?? namespaces ?? [namespace];
}

function keyOf({ apiVersion = '', kind = '', metadata: { name, namespace } }: KubernetesObject): ObjectKey {
  return { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name };
}

/** Removes the data of a Secret. Keeps its type: without it, an API server would set `Opaque`, and refuse to change that later. */
function withoutData(secret: KubernetesObject): KubernetesObject {
  const { type, immutable } = secret;
  const facts = { ...(type === undefined ? {} : { type }), ...(immutable === undefined ? {} : { immutable }) };
  return { ...redact(secret, { sensitive: true, live: false }), ...facts };
}
