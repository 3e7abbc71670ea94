import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { isJsonObject, parseJsonBody } from '../../core/json.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { isKubernetesObject, type KubernetesObject } from '../../core/objects.ts';
import { isDeeperThan } from '../../manifests/json-edits.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import { maxDepth, maxManifestBytes } from '../../manifests/yaml-documents.ts';
import { MalformedArchive, readTarFiles } from './tar-entries.ts';

/** Bounds of an archive, in bytes. An archive above one of them is malformed. */
export interface ArchiveLimits {
  readonly packed: number;
  readonly unpacked: number;
  /** The JSON texts of the returned objects together. Parsed objects take several times as much memory. */
  readonly kept: number;
}

/** The bounds of a real archive. */
export const archiveLimits: ArchiveLimits = { packed: 2 ** 30, unpacked: 8 * 2 ** 30, kept: 128 * 2 ** 20 };

/** The objects to read from an archive. */
export interface ArchiveSelection {
  readonly namespaces: readonly string[];
  readonly kinds: readonly GroupKind[];
}

/** The result of reading an archive. Messages contain no values of objects. */
export type ArchiveRead =
  | { readonly result: 'read'; readonly objects: readonly KubernetesObject[] }
  | { readonly result: 'malformed'; readonly message: string };

export interface ArchiveSource extends ArchiveSelection {
  /** The bytes of the `.tar.gz`. It must end or fail when the signal aborts. */
  readonly chunks: AsyncIterable<Buffer>;
  readonly limits: ArchiveLimits;
}

/**
 * Reads the selected objects of a backup of Velero (`resources/<plural.group>/namespaces/<namespace>/<name>.json`), as they were in the
 * cluster: with uid and status. Nothing is written to disk.
 *
 * Velero stores an object in several files: one outside the folders of versions, and one for each version of its kind. The first of these
 * that exists is used: the file outside the folders, that of the preferred version, any other file. The whole archive is read before any
 * object is returned, and one wrong entry refuses the whole archive.
 *
 * Rejects with the error of `chunks`, or with an `AbortError`.
 */
export async function readBackupArchive({ chunks, limits, ...selection }: ArchiveSource, signal: AbortSignal): Promise<ArchiveRead> {
  try {
    const objects = await pipeline(
      () => bounded(chunks, limits.packed, 'packed'),
      createGunzip(),
      (unpacked: AsyncIterable<Buffer>) => collect(bounded(unpacked, limits.unpacked, 'unpacked'), { ...selection, limits }),
      { signal },
    );
    return { result: 'read', objects };
  } catch (error) {
    if (error instanceof MalformedArchive) return { result: 'malformed', message: error.message };
    const code = String((error as NodeJS.ErrnoException).code);
    if (code === 'Z_BUF_ERROR') return { result: 'malformed', message: 'the archive is cut off' };
    if (code.startsWith('Z_')) return { result: 'malformed', message: 'expected a file packed with gzip' };
    throw error;
  }
}

async function* bounded(chunks: AsyncIterable<Buffer>, max: number, state: string): AsyncGenerator<Buffer, void, undefined> {
  let read = 0;
  for await (const chunk of chunks) {
    read += chunk.length;
    if (read > max) throw new MalformedArchive(`expected an archive of at most ${max} bytes ${state}`);
    yield chunk;
  }
}

/** An object, and the rank of its file: 2 outside the folders of versions, 1 for the preferred version, 0 for any other version. */
interface RankedObject {
  readonly object: KubernetesObject;
  readonly rank: number;
  readonly bytes: number;
}

async function collect(
  chunks: AsyncIterable<Buffer>,
  { namespaces, kinds, limits }: ArchiveSelection & { readonly limits: ArchiveLimits },
): Promise<readonly KubernetesObject[]> {
  const places = new Set(namespaces);
  const wantedKinds = new Set(kinds.map(keyOfKind));
  const found = new Map<string, RankedObject>();
  let kept = 0;
  let isBackup = false;
  const wants = (name: string) => {
    isBackup ||= name === 'metadata/version' || name.startsWith('resources/');
    const place = placeOf(name);
    return place !== undefined && places.has(place.namespace);
  };
  for await (const { name, bytes } of readTarFiles(chunks, { wants, maxFileBytes: maxManifestBytes })) {
    const place = placeOf(name);
    if (place === undefined) continue;
    const object = objectIn(bytes, place);
    const kind = keyOfKind(groupKindOfKey(object));
    if (!wantedKinds.has(kind)) continue;
    const key = `${kind}/${place.namespace}/${place.name}`;
    const before = found.get(key);
    if (before !== undefined && before.rank > place.rank) continue;
    kept += bytes.length - (before?.bytes ?? 0);
    if (kept > limits.kept) throw new MalformedArchive(`expected at most ${limits.kept} bytes of manifests in the requested namespaces`);
    found.set(key, { object, rank: place.rank, bytes: bytes.length });
  }
  if (!isBackup) throw new MalformedArchive('expected a backup of Velero, got another archive');
  return [...found.values()].map(({ object }) => object);
}

interface PlaceInArchive {
  readonly namespace: string;
  readonly name: string;
  readonly rank: number;
}

/**
 * Reads the namespace, the name and the rank of an object from the path of its file. Undefined if this is not the path of a namespaced
 * object.
 */
function placeOf(file: string): PlaceInArchive | undefined {
  const match = /^resources\/[^/]+\/(?:([^/]+)\/)?namespaces\/([^/]+)\/([^/]+)\.json$/.exec(file);
  if (match === null) return undefined;
  const [, version, namespace = '', name = ''] = match;
  return { namespace, name, rank: version === undefined ? 2 : version.endsWith('-preferredversion') ? 1 : 0 };
}

type NamedObject = KubernetesObject & { readonly apiVersion: string; readonly kind: string };

function objectIn(bytes: Buffer, { namespace, name }: PlaceInArchive): NamedObject {
  const value = parseJsonBody(bytes);
  const isObject =
    isJsonObject(value) && isKubernetesObject(value) && typeof value.apiVersion === 'string' && typeof value.kind === 'string';
  if (!isObject || isDeeperThan(value, maxDepth)) throw new MalformedArchive('expected Kubernetes objects in JSON');
  if (value.metadata.namespace !== namespace || value.metadata.name !== name)
    throw new MalformedArchive('expected each object in the file of its namespace and name');
  return value as NamedObject;
}
