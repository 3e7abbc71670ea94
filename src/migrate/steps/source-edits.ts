import type { Fault } from '../../core/faults.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { listAt, numberAt, objectAt, textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { withValueAt } from '../../manifests/json-edits.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import type { AppRevisionStore, KeptManifest } from '../hub/app-revision-store.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import { type AppPass, addressIn, awayFault, entryOf } from './app-pass.ts';
import type { ChangedApp } from './create-copies.ts';
import { patchOfClaimPolicy } from './keep-owned.ts';
import { specEditOf } from './leave-source.ts';
import { filledAnnotations, isSameManifest, isSecretKey, sourceManifestOf, withOwners } from './source-manifest.ts';

/** An object of the source that was just read. */
export interface ReadObject {
  readonly key: ObjectKey;
  readonly object: KubernetesObject;
}

/**
 * Decides whether an object of the source may be deleted or scaled down: only if an undo can restore it as it is now.
 *
 * - `record`: the object was edited after the plan, and must be recorded first.
 * - `keep`: the data or annotations of a Secret could be lost. Its copy has others, or the target had an equal Secret before.
 */
export async function judgeSourceChange(
  pass: AppPass,
  app: MigratedApp,
  read: ReadObject,
): Promise<'change' | 'record' | 'keep' | { readonly fault: Fault }> {
  const recorded = recordedIn(pass, read.key);
  if (recorded === undefined || !isSameManifest(recorded.manifest, manifestBeforeDrain(pass, app, read))) {
    const now = await recordNow(pass, app, read);
    if ('fault' in now) return now;
    // The hub may store a manifest without its empty members. The name of a revision is a hash of the manifests as they were given, so an
    // equal name means that nothing was edited.
    if (now.name !== app.undo?.revision) return 'record';
  }
  return isSecretKey(read.key) && textAt(read.object, 'type') !== tokenType ? await judgeSecret(pass, app, read) : 'change';
}

/** The API server fills in the data of such a Secret. They differ between clusters. */
const tokenType = 'kubernetes.io/service-account-token';

/**
 * Records an object of the source as it is now. The result must be saved before the object is changed. `held`: the spec of the workload was
 * edited, so the workload must stay.
 */
export async function recordEdited(pass: AppPass, app: MigratedApp, read: ReadObject): Promise<ChangedApp> {
  const hold = isWorkload(app, read.key) ? specEditOf(pass, app, read.object) : undefined;
  if (hold !== undefined) return { result: 'held', app, hold };
  const recorded = await recordNow(pass, app, read);
  if ('fault' in recorded) return { result: 'failed', app, fault: recorded.fault };
  const replicas = isWorkload(app, read.key) ? numberAt(manifestBeforeDrain(pass, app, read), 'spec', 'replicas') : undefined;
  const undo = { ...app.undo, revision: recorded.name, ...(replicas === undefined ? {} : { replicas }) };
  return { result: 'unsaved', app: { ...app, undo } };
}

function recordNow(pass: AppPass, app: MigratedApp, read: ReadObject): ReturnType<AppRevisionStore['record']> {
  const known = recordedIn(pass, read.key);
  const edited: KeptManifest = { side: 'source', stage: known?.stage ?? 'Surge', manifest: manifestBeforeDrain(pass, app, read) };
  const kept = known === undefined ? [...pass.kept, edited] : pass.kept.map((one) => (one === known ? edited : one));
  return pass.ports.revisions.record(pass.migration, kept, pass.signal);
}

/** Returns the recorded manifest of an object of the source. Undefined if none is recorded. */
export function recordedIn({ kept }: Pick<AppPass, 'kept'>, key: ObjectKey): KeptManifest | undefined {
  const text = textOfKey(key);
  return kept.find(({ side, manifest }) => side === 'source' && textOfKey(keyOfManifest(manifest)) === text);
}

/**
 * Returns the manifest of an object as it was before the step Drain. A workload without replicas gets the replicas and the retention policy
 * of claims that it had before the migration scaled it down.
 */
function manifestBeforeDrain(pass: AppPass, app: MigratedApp, { key, object }: ReadObject): Manifest {
  const manifest = withDeletedOwners(pass, key, sourceManifestOf(key, object));
  if (!isWorkload(app, key) || numberAt(manifest, 'spec', 'replicas') !== 0) return manifest;
  const recorded = recordedIn(pass, key)?.manifest;
  const policy = recorded === undefined ? {} : patchOfClaimPolicy(object, recorded);
  const spec = { ...objectAt(manifest, 'spec'), ...policy, replicas: app.undo?.replicas ?? app.from };
  return withValueAt(manifest, ['spec'], spec);
}

/** Adds the recorded owners that the migration itself deletes: their references were removed so that the object stays. */
function withDeletedOwners(pass: AppPass, key: ObjectKey, manifest: Manifest): Manifest {
  const recorded = listAt(recordedIn(pass, key)?.manifest, 'metadata', 'ownerReferences');
  const now = listAt(manifest, 'metadata', 'ownerReferences');
  const isOf = (a: Json, b: Json) => textAt(a, 'uid') === textAt(b, 'uid');
  const kept = recorded.filter((one) => now.some((other) => isOf(one, other)) || isLeaving(pass, key, one));
  const added = now.filter((one) => !kept.some((other) => isOf(one, other)));
  return withOwners(
    manifest,
    [...kept, ...added].map((one) => now.find((other) => isOf(one, other)) ?? one),
  );
}

function isLeaving({ kept }: AppPass, { namespace }: ObjectKey, owner: Json): boolean {
  const [apiVersion, kind, name] = ['apiVersion', 'kind', 'name'].map((member) => textAt(owner, member) ?? '') as [string, string, string];
  const text = textOfKey({ apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) });
  return kept.some(({ side, manifest }) => side === 'source' && textOfKey(keyOfManifest(manifest)) === text);
}

function isWorkload(app: MigratedApp, key: ObjectKey): boolean {
  return textOfKey(app.key) === textOfKey(key);
}

async function judgeSecret(
  pass: AppPass,
  app: MigratedApp,
  { key, object }: ReadObject,
): Promise<'change' | 'keep' | { readonly fault: Fault }> {
  const client = pass.client('target');
  const address = addressIn(pass, 'target', key);
  if (client === undefined) return { fault: awayFault(pass, 'target') };
  if ('fault' in address) return address;
  const entry = entryOf(app, 'target', key);
  // The target had an equal Secret of its own. Its owner may change the data at any time.
  if (entry?.state === 'Shared' && entry.intent === undefined) return 'keep';
  const copy = await client.get(address);
  if (copy.result === 'failed') return { fault: copy.fault };
  if (copy.result !== 'answered' || copy.object.metadata.uid !== entry?.uid) return 'keep';
  return canonicalJson(restoredPart(key, object, copy.object)) === canonicalJson(restoredPart(key, object, object)) ? 'change' : 'keep';
}

/** Returns the data and annotations that a Secret of the source would have after an undo that takes them from `from`. */
function restoredPart(key: ObjectKey, secret: KubernetesObject, from: KubernetesObject): JsonObject {
  return { data: objectAt(from, 'data'), annotations: filledAnnotations(sourceManifestOf(key, secret), from as unknown as JsonObject) };
}
