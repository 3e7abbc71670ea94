import type { Fault } from '../../core/faults.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import type { InventoryEntry } from '../../propagate/model/inventory.ts';
import { isHalted, isReturning } from '../model/migrated-app.ts';
import { migrationMarks } from '../model/migration.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import { type AppPass, clusterOf, entryOf, type MigrationSide, reachObject, withEntry } from './app-pass.ts';

/** An object in one of the clusters. */
interface SharedObject {
  readonly side: MigrationSide;
  readonly key: ObjectKey;
}

/** An object of the application that another application of the migration created or uses. */
interface SiblingObject {
  readonly entry: InventoryEntry;
  /** True if the other application is deleting its objects in that cluster. */
  readonly isLeaving: boolean;
}

/**
 * Returns the entry of another application of the migration to which an existing object belongs. Undefined if there is none. The proof is
 * the uid of the object, or its intent token if the entry has no uid yet.
 */
export function siblingObjectOf(
  pass: AppPass,
  app: MigratedApp,
  { side, key, object }: SharedObject & { readonly object: KubernetesObject },
): SiblingObject | undefined {
  const intent = object.metadata.annotations?.[migrationMarks.intent];
  for (const other of siblingsOf(pass, app)) {
    const entry = entryOf(other, side, key);
    if (entry === undefined) continue;
    const isSame = entry.uid === undefined ? entry.intent !== undefined && entry.intent === intent : entry.uid === object.metadata.uid;
    if (isSame) return { entry, isLeaving: side === 'target' && isRemovingCopies(other) };
  }
  return undefined;
}

/**
 * Tells whether other applications of the migration use an object that this application would delete:
 *
 * - `used`: another application needs the object. It stays, and the last application that uses it deletes it.
 * - `unclear`: another application is creating its objects now, so the caller asks again later.
 * - `unused`: this application may delete it.
 */
export function useBySiblings(pass: AppPass, app: MigratedApp, object: SharedObject): 'used' | 'unclear' | 'unused' {
  const uses = siblingsOf(pass, app).map((other) => useBy(other, app, object));
  return uses.find((use) => use === 'used') ?? uses.find((use) => use === 'unclear') ?? 'unused';
}

/**
 * True if a Migration that was planned later, and is not undone, uses this object of the target. It found the object there already, equal to what it
 * would create, so its undo does not delete the object.
 */
export function isUsedByLaterMove(pass: AppPass, { key, uid }: InventoryEntry): boolean {
  return laterAppsOf(pass, 'to').some((app) => {
    const entry = app.step === 'Undone' || app.step === 'Skipped' ? undefined : entryOf(app, 'target', key);
    return entry?.state === 'Shared' && uid !== undefined && entry.uid === uid;
  });
}

/** The result of `adoptRestored`. `unsaved`: the application has new uids, which are not saved yet. */
type Adoption =
  | { readonly result: 'done' | 'unsaved'; readonly app: MigratedApp }
  | { readonly result: 'failed'; readonly app: MigratedApp; readonly fault: Fault }
  | { readonly result: 'stopped' };

/**
 * Takes over copies in the target that the undo of a later Migration created again there, under new uids. Two records prove that such an
 * object is the copy: the later Migration has recorded its uid, and it has the intent token of the entry. The result must be saved before
 * the objects are changed.
 */
export async function adoptRestored(pass: AppPass, given: MigratedApp): Promise<Adoption> {
  let app = given;
  const restored = laterAppsOf(pass, 'from').filter(({ step }) => step === 'Undone');
  for (const entry of restored.length === 0 ? [] : given.target) {
    const { key, uid, intent } = entry;
    const uids = restored.flatMap((one) => entryOf(one, 'source', key)?.uid ?? []);
    if (intent === undefined || uid === undefined || uids.length === 0 || uids.includes(uid)) continue;
    const reached = reachObject(pass, 'target', key);
    if ('fault' in reached) continue;
    const live = await reached.client.get(reached.address);
    if (live.result === 'failed') return { ...live, app };
    if (live.result === 'stopped') return live;
    const { metadata } = live.result === 'answered' ? live.object : { metadata: undefined };
    const isRestored = metadata?.uid !== undefined && uids.includes(metadata.uid);
    if (isRestored && metadata.annotations?.[migrationMarks.intent] === intent)
      app = withEntry(app, 'target', key, { ...entry, uid: metadata.uid });
  }
  return app === given ? { result: 'done', app } : { result: 'unsaved', app };
}

/** Returns the applications of later Migrations that have the target of this one as their `from` or `to`. */
function laterAppsOf(pass: AppPass, end: 'from' | 'to'): readonly MigratedApp[] {
  const target = clusterOf(pass, 'target');
  return pass.laterMoves().flatMap(({ spec, status }) => ('problems' in spec || spec[end] !== target ? [] : (status.apps ?? [])));
}

function useBy(other: MigratedApp, app: MigratedApp, { side, key }: SharedObject): 'used' | 'unclear' | 'unused' {
  const entry = entryOf(other, side, key);
  if (entry === undefined || other.step === 'Skipped') return 'unused';
  if (side === 'source') return hasLeftSource(other, app) ? 'unused' : 'used';
  if (other.step === 'Undone' || other.step === 'Preflight' || isRemovingCopies(other)) return 'unused';
  if (entry.state !== 'Intended') return 'used';
  return (other.step === 'Surge' || other.step === 'Traffic') && !isHalted(other) ? 'unclear' : 'unused';
}

/**
 * True if the other application does not need its objects in the source any more: it is in Remove or Done, or both applications are in
 * Drain.
 */
function hasLeftSource(other: MigratedApp, { step }: MigratedApp): boolean {
  if (isReturning(other)) return false;
  return other.step === 'Done' || other.step === 'Remove' || (other.step === 'Drain' && step === 'Drain');
}

/** True if the undo of the application deletes its copies in the target now. */
function isRemovingCopies(app: MigratedApp): boolean {
  return isReturning(app) && (app.step === 'Health' || app.step === 'Surge');
}

function siblingsOf({ migration }: AppPass, { key }: MigratedApp): readonly MigratedApp[] {
  const own = textOfKey(key);
  return (migration.status.apps ?? []).filter((one) => textOfKey(one.key) !== own);
}
