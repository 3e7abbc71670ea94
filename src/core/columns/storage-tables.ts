import type { V1PersistentVolume, V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { pathColumn } from './json-columns.ts';
import { type AnsweredObject, ageColumn, type KindTable, type Maybe, nameColumn, type PrintedColumn } from './printed-column.ts';

type Storage = AnsweredObject<V1PersistentVolume & V1PersistentVolumeClaim> & {
  readonly metadata: { readonly deletionTimestamp?: Maybe<string>; readonly storageClass?: Maybe<string> };
  readonly spec?: Maybe<{ readonly volumeCapacity?: Capacity }>;
};

type Capacity = Maybe<Readonly<Record<string, string>>>;

const statusColumn: PrintedColumn<Storage> = {
  header: 'STATUS',
  fields: 'metadata { deletionTimestamp } status { phase }',
  cell: ({ metadata, status }) => (metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? '')),
};

const classColumn: PrintedColumn<Storage> = {
  header: 'STORAGECLASS',
  fields: 'metadata { storageClass: annotation(key: "volume.beta.kubernetes.io/storage-class") } spec { storageClassName }',
  cell: ({ metadata, spec }) => metadata.storageClass ?? spec?.storageClassName ?? '',
};

const attributesColumn = pathColumn('VOLUMEATTRIBUTESCLASS', 'spec.volumeAttributesClassName', { absent: '<unset>' });
const modeColumn: PrintedColumn = { ...pathColumn('VOLUMEMODE', 'spec.volumeMode', { absent: '<unset>' }), isWide: true };

const claimColumns: readonly PrintedColumn<Storage>[] = [
  nameColumn,
  statusColumn,
  pathColumn('VOLUME', 'spec.volumeName'),
  {
    header: 'CAPACITY',
    fields: 'spec { volumeName } status { capacity { storage: get(name: "storage") } }',
    cell: ({ spec, status }) => (spec?.volumeName ? capacityText(status?.capacity) : ''),
  },
  {
    header: 'ACCESS MODES',
    fields: 'spec { volumeName } status { accessModes }',
    cell: ({ spec, status }) => (spec?.volumeName ? modesText(status?.accessModes) : ''),
  },
  classColumn,
  attributesColumn,
  ageColumn,
  modeColumn,
];

const volumeColumns: readonly PrintedColumn<Storage>[] = [
  nameColumn,
  {
    header: 'CAPACITY',
    fields: 'spec { volumeCapacity: capacity { storage: get(name: "storage") } }',
    cell: ({ spec }) => capacityText(spec?.volumeCapacity),
  },
  { header: 'ACCESS MODES', fields: 'spec { accessModes }', cell: ({ spec }) => modesText(spec?.accessModes) },
  pathColumn('RECLAIM POLICY', 'spec.persistentVolumeReclaimPolicy'),
  statusColumn,
  {
    header: 'CLAIM',
    fields: 'spec { claimRef { namespace name } }',
    cell: ({ spec }) => (spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : ''),
  },
  classColumn,
  attributesColumn,
  pathColumn('REASON', 'status.reason'),
  ageColumn,
  modeColumn,
];

/** The tables of PersistentVolumeClaims and PersistentVolumes. */
export const storageTables: readonly KindTable[] = [
  { group: '', kind: 'PersistentVolumeClaim', columns: claimColumns },
  { group: '', kind: 'PersistentVolume', columns: volumeColumns },
];

const shortModes: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

function modesText(modes: Maybe<readonly string[]>): string {
  return shortModes
    .filter(([mode]) => modes?.includes(mode) === true)
    .map(([, short]) => short)
    .join(',');
}

/** Returns the capacity, which the API server writes in canonical form. Default: 0. */
function capacityText(capacity: Capacity): string {
  return capacity?.storage ?? '0';
}
