import type { Fault } from '../../core/faults.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import { deletionOf } from '../../propagate/plan/copies/copy-marks.ts';
import { kindsToRead } from '../discover/app-kinds.ts';
import { outsideHolderOf } from '../discover/find-apps.ts';
import { readLiveSource } from '../discover/source-objects.ts';
import { isEnded, isReturning } from '../model/migrated-app.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import { type AppPass, clusterOf, reachObject } from './app-pass.ts';

/**
 * Finds out whether an object outside the migration needs this object of the source now. Call it directly before the removal: the need may be newer
 * than the plan.
 *
 * - `needed`: the mirrors show an object that needs it. A live read confirms that the other object still exists, or the live read is forbidden.
 * - `unneeded`: no mirror shows such an object, and all mirrors are in sync.
 * - `unclear`: the mirrors show such an object, but it no longer exists, was replaced, is being deleted, or cannot be reached. Check again later.
 * - A fault: the mirrors are not in sync, or the live read failed.
 */
export async function outsideNeedOf(
  pass: AppPass,
  app: MigratedApp,
  key: ObjectKey,
): Promise<'needed' | 'unneeded' | 'unclear' | { readonly fault: Fault }> {
  const { members } = pass.ports.hub;
  const { namespace = '' } = key;
  const read = await readLiveSource(
    members,
    { cluster: clusterOf(pass, 'source'), kinds: kindsToRead([]), namespace, mustBeInSync: true },
    pass.signal,
  );
  const [unread] = read.faults;
  if (unread !== undefined) return { fault: unread };
  const holder = outsideHolderOf(key, read.objects, leavingIn(pass, app));
  if (holder === undefined) return 'unneeded';
  const reached = reachObject(pass, 'source', holder.key);
  if ('fault' in reached) return 'unclear';
  const live = await reached.client.get(reached.address);
  if (live.result === 'failed') return live.fault.code === 'FORBIDDEN' ? 'needed' : { fault: live.fault };
  if (live.result !== 'answered' || deletionOf(live.object) !== undefined) return 'unclear';
  return live.object.metadata.uid === holder.object.metadata.uid ? 'needed' : 'unclear';
}

/**
 * Returns the objects that leave the source, by uid and by key: the objects of `app`, and of all other applications that leave the source.
 * Includes objects that no longer exist. Leaves out the key of an object of `app` that stays for others (`Shared`).
 */
function leavingIn({ migration, kept }: AppPass, app: MigratedApp) {
  const stays = (one: MigratedApp) => isReturning(one) || (isEnded(one) && one.step !== 'Done');
  const apps = [app, ...(migration.status.apps ?? []).filter((one) => !stays(one))];
  const entries = apps.flatMap(({ source }) => source).filter(({ state }) => state !== 'Shared');
  const own = kept.filter(({ side }) => side === 'source').map(({ manifest }) => keyOfManifest(manifest));
  const leaving = new Set([...own, ...entries.map(({ key }) => key)].map(textOfKey));
  for (const { key, state } of app.source) if (state === 'Shared') leaving.delete(textOfKey(key));
  return { uids: new Set([...apps, ...entries].flatMap(({ uid }) => uid ?? [])), leaving };
}
