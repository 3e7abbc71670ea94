import { parseInstant } from '../../core/json/json-values.ts';
import { labelsAt, textAt } from '../../core/json-at.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { matchesLabelSelector } from '../../core/selectors.ts';
import { compareText } from '../../core/text.ts';
import type { BackupSpec } from '../model/migration.ts';

/** A completed Backup of Velero in one cluster. */
export interface CompletedBackup {
  readonly cluster: ClusterName;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** `status.completionTimestamp`, RFC 3339. */
  readonly completedAt: string;
}

/** The Backups of one cluster. */
export interface BackupsOfCluster {
  readonly cluster: ClusterName;
  readonly backups: readonly KubernetesObject[];
}

/**
 * Returns the newest completed Backup that the spec names or selects: one item for each cluster that has it, sorted by cluster. Its archive
 * is in a bucket, and the Velero of each of these clusters can give access to it. Empty if no Backup matches. Pure.
 */
export function chooseBackup(spec: BackupSpec, clusters: readonly BackupsOfCluster[]): readonly CompletedBackup[] {
  const found = clusters.flatMap(({ cluster, backups }) =>
    backups.filter((backup) => isSelected(spec, backup)).flatMap((backup) => completedBackupOf(cluster, backup) ?? []),
  );
  const [newest] = found.toSorted((a, b) => instantOf(b) - instantOf(a) || compareText(a.name, b.name));
  if (newest === undefined) return [];
  return found
    .filter(({ name, completedAt }) => name === newest.name && completedAt === newest.completedAt)
    .toSorted((a, b) => compareText(a.cluster, b.cluster));
}

/** Returns a Backup as a completed one. Undefined if it is not completed, or is being deleted. */
export function completedBackupOf(cluster: ClusterName, backup: KubernetesObject): CompletedBackup | undefined {
  const { namespace = '', name, uid = '', deletionTimestamp } = backup.metadata;
  const completedAt = textAt(backup, 'status', 'completionTimestamp');
  if (textAt(backup, 'status', 'phase') !== 'Completed' || deletionTimestamp !== undefined) return undefined;
  if (completedAt === undefined || parseInstant(completedAt) === undefined) return undefined;
  return { cluster, namespace, name, uid, completedAt };
}

function isSelected({ namespace, name, labels }: BackupSpec, { metadata }: KubernetesObject): boolean {
  if (metadata.namespace !== namespace) return false;
  if (name !== undefined) return metadata.name === name;
  return labels !== undefined && matchesLabelSelector(labels, labelsAt(metadata, 'labels'));
}

function instantOf({ completedAt }: CompletedBackup): number {
  return Date.parse(completedAt);
}
