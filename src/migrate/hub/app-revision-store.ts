import { createHash } from 'node:crypto';
import type { Fault } from '../../core/faults.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, numberAt, objectAt, textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { type Hub, hubFault, hubKinds, listOnHub, requestOnHub } from '../../propagate/hub/hub.ts';
import { inParts } from '../../propagate/hub/revision-store.ts';
import { type Migration, migrationMarks } from '../model/migration.ts';
import { migrationKind } from './migration-store.ts';

/** One manifest of an application: as it is written to the target, or as it was in the source. It has no marks, and no data of Secrets. */
export interface KeptManifest {
  readonly side: 'source' | 'target';
  /** `Traffic`: Services that are not headless, and Ingresses. `Surge`: all other objects. */
  readonly stage: 'Surge' | 'Traffic';
  readonly manifest: Manifest;
}

/**
 * The manifests of the applications of migrations, as ControllerRevisions on the hub. The Migration owns them. They never change, so callers
 * may cache them.
 */
export interface AppRevisionStore {
  /**
   * Records the manifests of one application, and returns the name of the revision. The name is derived from the content, so recording the
   * same content twice has no further effect. Uses several resources if one would be too large.
   */
  record(
    owner: Migration,
    kept: readonly KeptManifest[],
    signal: AbortSignal,
  ): Promise<{ readonly name: string } | { readonly fault: Fault }>;
  /** Reads a revision from the hub itself, in the order in which it was recorded. Returns a fault if a part of it is gone. */
  read(owner: Migration, name: string, signal: AbortSignal): Promise<readonly KeptManifest[] | { readonly fault: Fault }>;
}

/** The label with the name of the revision to which a ControllerRevision belongs. */
const revisionLabel = 'muster.dev/revision';

/** Creates the store. */
export function createAppRevisionStore(hub: Hub): AppRevisionStore {
  return {
    async record(owner, kept, signal) {
      const printed = kept.map((one): Json => ({ ...one }));
      const { namespace, uid } = owner.metadata;
      const name = createHash('sha256')
        .update(canonicalJson([uid, printed]))
        .digest('hex')
        .slice(0, 32);
      const parts = inParts(printed);
      for (const [index, objects] of parts.entries()) {
        const manifest = manifestOf(owner, { name, index, data: { index, parts: parts.length, objects } });
        const answer = await requestOnHub(
          hub,
          { kind: hubKinds.revision, objectName: { namespace, name: manifest.metadata.name } },
          (client, address) =>
            client.apply({ ...address, manifest, preconditions: { resourceVersion: '1' }, force: false, run: 'real' }, signal),
        );
        // After a conflict, the existing ControllerRevision has the same content, because its name is derived from the content.
        if (answer.result === 'failed') return { fault: answer.fault };
        if (answer.result === 'absent')
          return { fault: hubFault(hub, 'NOT_FOUND', `the namespace ${namespace} does not exist on the hub`) };
      }
      return { name };
    },
    async read(owner, name, signal) {
      const { namespace, uid } = owner.metadata;
      const labels = { [migrationMarks.migration]: uid, [revisionLabel]: name };
      const found = await listOnHub(hub, { kind: hubKinds.revision, namespace, labels }, signal);
      if ('fault' in found) return found;
      const ordered = found.toSorted((a, b) => indexOf(a) - indexOf(b));
      const parts = numberAt(ordered[0], 'data', 'parts') ?? 1;
      if (ordered.length !== parts) {
        return { fault: hubFault(hub, 'NOT_FOUND', `expected the ${parts} ControllerRevisions of ${name}, found ${ordered.length}`) };
      }
      return ordered.flatMap((object) => listAt(object, 'data', 'objects').flatMap(keptManifestOf));
    },
  };
}

function indexOf(object: KubernetesObject): number {
  return numberAt(object, 'data', 'index') ?? 0;
}

interface RevisionPart {
  readonly name: string;
  readonly index: number;
  readonly data: JsonObject;
}

function manifestOf({ metadata }: Migration, { name, index, data }: RevisionPart): Manifest {
  const { namespace, name: owner, uid } = metadata;
  const { apiVersion, kind } = migrationKind;
  return {
    apiVersion: hubKinds.revision.apiVersion,
    kind: hubKinds.revision.kind,
    metadata: {
      namespace,
      name: `${owner.slice(0, 180).replace(/[^a-z0-9]+$/, '')}.${name}.${index}`,
      labels: { [migrationMarks.migration]: uid, [revisionLabel]: name },
      ownerReferences: [{ apiVersion, kind, name: owner, uid }],
    },
    revision: 1,
    data,
  };
}

function keptManifestOf(value: Json): readonly KeptManifest[] {
  const manifest = objectAt(value, 'manifest');
  if (!isJsonObject(value) || !isManifest(manifest)) return [];
  return [
    {
      side: value.side === 'source' ? 'source' : 'target',
      stage: value.stage === 'Traffic' ? 'Traffic' : 'Surge',
      manifest,
    },
  ];
}

function isManifest(value: JsonObject): value is Manifest {
  return [['apiVersion'], ['kind'], ['metadata', 'name']].every((path) => textAt(value, ...path) !== undefined);
}
