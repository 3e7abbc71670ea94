import type { Members } from '../../changes/members.ts';
import type { ObjectClient } from '../../changes/object-client.ts';
import type { ConfiguredBackups } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import { invariant } from '../../core/errors.ts';
import { type Fault, fault } from '../../core/faults.ts';
import type { GroupKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { BackupSpec } from '../model/migration.ts';
import type { BackupUsed } from '../model/migration-status-definition.ts';
import { type ArchiveLimits, type ArchiveSelection, archiveLimits, readBackupArchive } from './backup-archive.ts';
import { openBackupFile } from './backup-file.ts';
import { type CompletedBackup, chooseBackup, completedBackupOf } from './choose-backup.ts';
import { DownloadFailure, downloadArchive } from './download-archive.ts';
import { type DownloadUrl, withDownloadUrl } from './request-download.ts';

/** Bounds of reading one backup. */
export interface BackupLimits {
  readonly archive: ArchiveLimits;
  /** Maximum milliseconds to wait for the mirrors of Backups. A cluster that has no complete mirror by then is left out. */
  readonly mirrorMs: number;
  /** Milliseconds until Velero must have answered a DownloadRequest. */
  readonly urlMs: number;
  /** Milliseconds without a byte, after which a download has failed. */
  readonly idleMs: number;
  /** Milliseconds for reading a whole archive. */
  readonly readMs: number;
}

const defaultBackupLimits: BackupLimits = {
  archive: archiveLimits,
  mirrorMs: 10_000,
  urlMs: 30_000,
  idleMs: 30_000,
  readMs: 600_000,
};

/** The kind of the Backups of Velero. */
export const backupKind: GroupKind = { group: 'velero.io', kind: 'Backup' };
const requestKind: GroupKind = { group: 'velero.io', kind: 'DownloadRequest' };

export interface BackupPorts {
  readonly members: Members;
  /** Returns the client with the identity of the migration. Undefined if the cluster is not in the fleet. */
  readonly clientOf: (cluster: ClusterName) => ObjectClient | undefined;
  /**
   * Returns why the requester may not find Backups of the spec in a cluster. Undefined: the requester may. Default: all Backups may be found.
   */
  readonly refusalOf?: ((cluster: ClusterName, signal: AbortSignal) => Promise<Fault | undefined>) | undefined;
  readonly config: ConfiguredBackups;
  /** As `DownloadOptions.allowPrivate`. */
  readonly allowPrivate?: readonly string[] | undefined;
  readonly clock: Clock;
  /** Default: the real bounds. */
  readonly limits?: BackupLimits;
}

/** A backup and the objects to read from it. */
export interface BackupRequest extends ArchiveSelection {
  readonly spec: BackupSpec;
  /** The cluster that applications leave. It is not searched for Backups, unless the spec names it. */
  readonly from: string;
}

/** The result of reading a backup. Messages contain no values of objects, no URLs and no paths outside the spec. */
export type BackupManifests =
  /** The objects of the requested namespaces and kinds as they were in the cluster, with their uids. Secrets have their data. */
  | { readonly result: 'read'; readonly objects: readonly KubernetesObject[]; readonly backup: BackupUsed }
  /**
   * `BAD_INPUT`: the file lies outside the configured folders. `NO_BACKUP`: no completed Backup or file can be read. `BACKUP_MALFORMED`:
   * the whole archive is refused. `backup` is the one that could not be used, if the failure is about a single one.
   */
  | {
      readonly result: 'refused';
      readonly code: 'BAD_INPUT' | 'NO_BACKUP' | 'BACKUP_MALFORMED';
      readonly message: string;
      readonly faults: readonly Fault[];
      readonly backup?: BackupUsed | undefined;
    };

/**
 * Reads manifests from a backup of Velero: from the newest completed Backup of the spec, or from a file.
 *
 * Finds Backups in the mirrors of the reachable clusters, and reads the chosen one again with the identity of the migration. If a cluster
 * cannot create the DownloadRequest, the next cluster with the same Backup is tried.
 *
 * Rejects with the reason of the signal when it aborts. The DownloadRequest is deleted in that case too.
 */
export async function readBackup(ports: BackupPorts, request: BackupRequest, signal: AbortSignal): Promise<BackupManifests> {
  const { limits = defaultBackupLimits, clock } = ports;
  const ended = new AbortController();
  const limit = AbortSignal.any([signal, ended.signal]);
  let isLate = false;
  const timer = clock.sleep(limits.readMs, limit).then(() => {
    isLate = !limit.aborted;
    ended.abort();
  });
  const reading = { ...ports, limits, request };
  const { file } = request.spec;
  try {
    const read = await (file === undefined ? readFromVelero(reading, limit) : readFromFile(reading, file, limit));
    if (!limit.aborted) return read;
  } catch (error) {
    if (!limit.aborted) throw error;
  } finally {
    ended.abort();
    await timer;
  }
  signal.throwIfAborted();
  invariant(isLate, 'a backup that was not read was aborted, or took too long');
  return refused('NO_BACKUP', { message: `the backup could not be read within ${limits.readMs / 1_000} s` });
}

interface BackupReading extends BackupPorts {
  readonly limits: BackupLimits;
  readonly request: BackupRequest;
}

async function readFromFile(reading: BackupReading, file: string, signal: AbortSignal): Promise<BackupManifests> {
  const backup = { name: file };
  try {
    const opened = await openBackupFile(file, reading.config.folders);
    if (opened.result === 'outside')
      return refused('BAD_INPUT', { message: 'backup.file: expected a path below a folder in `backups.folders` of the config file' });
    if (opened.result === 'absent') return refused('NO_BACKUP', { message: `no folder for backups has a file ${JSON.stringify(file)}` });
    return await readArchive({ chunks: opened.file.createReadStream(), backup }, reading, signal);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    return refused('NO_BACKUP', { message: `the file ${JSON.stringify(file)} cannot be read (${code})`, backup });
  }
}

async function readFromVelero(reading: BackupReading, signal: AbortSignal): Promise<BackupManifests> {
  const { chosen, faults } = await findBackups(reading, signal);
  const { spec } = reading.request;
  const [first] = chosen;
  if (first === undefined) {
    const where = spec.cluster === undefined ? `any reachable cluster except ${reading.request.from}` : `the cluster ${spec.cluster}`;
    const which = spec.name === undefined ? 'that the labels select' : JSON.stringify(spec.name);
    const reasons = faults.map(({ cluster, message }) => `; ${cluster}: ${message}`).join('');
    return refused('NO_BACKUP', {
      message: `expected a completed Backup ${which} in the namespace ${spec.namespace} of ${where}${reasons}`,
      faults,
    });
  }
  const failures: Fault[] = [];
  for (const backup of chosen) {
    const read = await readFromCluster(backup, reading, signal);
    if (read.result !== 'unavailable') return read;
    failures.push(read.fault);
  }
  const reasons = failures.map(({ cluster, message }) => `${cluster}: ${message}`).join('; ');
  return refused('NO_BACKUP', { message: `the Backup ${first.name} cannot be downloaded: ${reasons}`, faults: failures });
}

/**
 * Finds the Backup of the spec in the mirrors of the reachable clusters. Returns it for each cluster that gives access to it. `faults`: the clusters
 * that could not be searched, and those in which the requester may not read Backups, whether they have the Backup or not.
 */
async function findBackups(
  { members, limits, refusalOf, request: { spec, from } }: BackupReading,
  signal: AbortSignal,
): Promise<{ readonly chosen: readonly CompletedBackup[]; readonly faults: readonly Fault[] }> {
  const { objects } = members;
  const searched = members.all().filter(({ name }) => (spec.cluster === undefined ? name !== from : name === spec.cluster));
  const reachable = searched.filter(({ phase }) => phase !== 'UNREACHABLE').map(({ name }) => name);
  const wanted = reachable.map((cluster) => ({ cluster, kind: backupKind }));
  await objects.whenRead(wanted, limits.mirrorMs, signal);
  const serving = reachable.filter((cluster) => objects.served(cluster, backupKind) !== 'absent');
  const refusals = new Map(await Promise.all(serving.map(async (cluster) => [cluster, await refusalOf?.(cluster, signal)] as const)));
  const clusters = serving.filter((cluster) => refusals.get(cluster) === undefined);
  const backups = clusters.map((cluster) => ({ cluster, backups: objects.all(cluster, backupKind) ?? [] }));
  const unread = clusters.flatMap((cluster) => {
    const state = objects.read(cluster, backupKind, { namespace: spec.namespace, name: '' });
    return state.result === 'unread' ? [state.fault] : [];
  });
  const away = searched.filter(({ phase }) => phase === 'UNREACHABLE').flatMap(({ faults }) => faults.slice(0, 1));
  return {
    chosen: chooseBackup(spec, backups),
    faults: [...unread, ...away, ...[...refusals.values()].filter((one) => one !== undefined)],
  };
}

/** The cluster does not give access to the Backup, but another cluster may. */
interface UnavailableBackup {
  readonly result: 'unavailable';
  readonly fault: Fault;
}

async function readFromCluster(
  found: CompletedBackup,
  reading: BackupReading,
  signal: AbortSignal,
): Promise<BackupManifests | UnavailableBackup> {
  const { members, clientOf, clock, limits } = reading;
  const { cluster, namespace, name } = found;
  const client = clientOf(cluster);
  const unavailable = (message: string): UnavailableBackup => ({
    result: 'unavailable',
    fault: fault('NOT_FOUND', message, { cluster, kind: backupKind, retry: 'LATER' }),
  });
  const backups = members.objects.served(cluster, backupKind);
  const requests = members.objects.served(cluster, requestKind);
  if (client === undefined || backups === undefined || backups === 'absent') return unavailable('the cluster has left the fleet');
  if (requests === undefined || requests === 'absent') return unavailable('the cluster does not serve DownloadRequests of velero.io');
  // Read again, because the migration may run with fewer rights than the mirrors, and a mirror can be behind.
  const read = await client.get({ resource: backups, namespace, name }, signal);
  if (read.result === 'failed') return { result: 'unavailable', fault: read.fault };
  const current = read.result === 'absent' ? undefined : completedBackupOf(cluster, read.object);
  if (current === undefined || current.uid !== found.uid) return unavailable('the Backup is no longer there, or no longer completed');
  const use = (url: DownloadUrl) => download(url, { reading, found: current }, signal);
  return withDownloadUrl(current, { client, resource: requests, clock, waitMs: limits.urlMs, use }, signal);
}

interface FoundBackup {
  readonly reading: BackupReading;
  readonly found: CompletedBackup;
}

async function download(
  url: DownloadUrl,
  { reading, found: { cluster, name, completedAt } }: FoundBackup,
  signal: AbortSignal,
): Promise<BackupManifests | UnavailableBackup> {
  const { config, limits, allowPrivate } = reading;
  const backup = { cluster, name, completedAt };
  if (url.result === 'failed') return { result: 'unavailable', fault: url.fault };
  if (url.result === 'none') {
    const message = `Velero in ${cluster} gave no download URL for the Backup ${name} within ${limits.urlMs / 1_000} s`;
    return refused('NO_BACKUP', { message, backup });
  }
  try {
    const chunks = downloadArchive(url.url, { allowHttp: config.allowHttp, idleMs: limits.idleMs, allowPrivate }, signal);
    return await readArchive({ chunks, backup }, reading, signal);
  } catch (error) {
    if (!(error instanceof DownloadFailure)) throw error;
    return refused('NO_BACKUP', { message: `the Backup ${name} of ${cluster} cannot be downloaded: ${error.message}`, backup });
  }
}

interface OpenedArchive {
  readonly chunks: AsyncIterable<Buffer>;
  readonly backup: BackupUsed;
}

async function readArchive(
  { chunks, backup }: OpenedArchive,
  { request, limits }: BackupReading,
  signal: AbortSignal,
): Promise<BackupManifests> {
  const { namespaces, kinds } = request;
  const read = await readBackupArchive({ chunks, namespaces, kinds, limits: limits.archive }, signal);
  if (read.result === 'read') return { result: 'read', objects: read.objects, backup };
  return refused('BACKUP_MALFORMED', { message: `the backup ${backup.name} is refused: ${read.message}`, backup });
}

type RefusedBackup = Extract<BackupManifests, { readonly result: 'refused' }>;

function refused(
  code: RefusedBackup['code'],
  { message, faults = [], backup }: { readonly message: string; readonly faults?: readonly Fault[]; readonly backup?: BackupUsed },
): RefusedBackup {
  return { result: 'refused', code, message, faults, backup };
}
