import { equalJson } from '../../core/json/json-values.ts';
import type { ResourceVersion } from '../../core/names.ts';
import { identityOf, type KubernetesObject, type ObjectIdentity } from '../../core/objects.ts';
import type { ExactParse, ListStageOptions } from '../mirror-store.ts';
import { compareVersions } from '../versions.ts';
import type { StoreContents } from './contents.ts';
import { controllerUidOf } from './indexes.ts';
import { type SharedObject, shareStructure } from './structural-sharing.ts';

/** A list in the making: what it holds so far, and what happened to the store meanwhile. */
export interface StagedObjects {
  readonly namespace: string | undefined;
  keep(identity: ObjectIdentity): boolean;
  add(object: KubernetesObject, exactly: ExactParse): void;
  remove(namespace: string, name: string): void;
  /** An event about this object reached the store. */
  noteEvent(namespace: string, name: string, version: ResourceVersion | undefined): void;
  /** What the list of that version does to the contents, which it does not change. */
  plan(version: ResourceVersion | undefined): ReplacePlan;
}

/** What a list does: first all that leaves, then all that comes or changes. */
export interface ReplacePlan {
  /** Missing in the list, or another uid has taken the name. */
  readonly deletions: readonly KubernetesObject[];
  readonly upserts: readonly Upsert[];
}

interface Upsert extends SharedObject {
  /** The object that this one replaces; absent if it is new. */
  readonly before?: KubernetesObject;
}

interface StagingOptions extends ListStageOptions {
  readonly contents: StoreContents;
  /** The object in the form in which it is held. */
  readonly formOf: (object: KubernetesObject) => KubernetesObject;
}

/** What is held stays. */
type Staged = SharedObject | 'kept';

/** An empty list over what the contents hold. */
export function createStagedObjects({ contents, namespace: only, byContent = false, formOf }: StagingOptions): StagedObjects {
  const staged = new Map<string, Map<string, Staged>>();
  const families = new Map<string, KubernetesObject>();
  const touches = new Map<string, ResourceVersion | undefined>();
  const { objects: shelves } = contents;

  const set = (namespace: string, name: string, value: Staged): void => {
    const names = staged.get(namespace);
    if (names === undefined) staged.set(namespace, new Map([[name, value]]));
    else names.set(name, value);
  };

  /** An event told of a version after the list's: what it did is not undone. */
  const isNewer = (namespace: string, name: string, version: ResourceVersion | undefined): boolean => {
    const touched = touches.get(keyOf(namespace, name));
    return touched !== undefined && version !== undefined && (compareVersions(touched, version) ?? 0) > 0;
  };

  const isLeaving = (object: KubernetesObject, version: ResourceVersion | undefined): boolean => {
    const { namespace, name, uid } = identityOf(object);
    const here = staged.get(namespace)?.get(name);
    if (here !== undefined && (here === 'kept' || isSame(uid, here.object))) return false;
    return !isNewer(namespace, name, version);
  };

  const comingOf = (listed: SharedObject, version: ResourceVersion | undefined): Upsert | undefined => {
    const { namespace, name, uid } = identityOf(listed.object);
    if (isNewer(namespace, name, version)) return undefined;
    const before = shelves.get(namespace, name)?.object;
    if (before === undefined || !isSame(uid, before)) return listed;
    // An event may have made it equal since it was listed.
    const equal = listed.object === before || (touches.has(keyOf(namespace, name)) && equalJson(listed.object, before));
    return equal ? undefined : { ...listed, before };
  };

  return {
    namespace: only,
    keep({ namespace, name, uid, version }) {
      if (byContent || uid === '' || version === '' || (only !== undefined && namespace !== only)) return false;
      const held = shelves.get(namespace, name)?.object.metadata;
      if (held?.uid !== uid || held.resourceVersion !== version) return false;
      set(namespace, name, 'kept');
      return true;
    },
    add(object, exactly) {
      const { namespace, name } = identityOf(object);
      if (only !== undefined && namespace !== only) return;
      const controller = controllerUidOf(object);
      const sibling = (controller === undefined ? undefined : families.get(controller)) ?? contents.siblingOf(object);
      const shared = shareExactly(shelves.get(namespace, name)?.object ?? sibling, {
        object: formOf(object),
        exactly: () => formOf(exactly()),
      });
      set(namespace, name, shared);
      if (controller !== undefined) families.set(controller, shared.object);
    },
    remove(namespace, name) {
      staged.get(namespace)?.delete(name);
    },
    noteEvent(namespace, name, version) {
      touches.set(keyOf(namespace, name), version);
    },
    plan(version) {
      const leaving: KubernetesObject[] = [];
      for (const { object } of only === undefined ? shelves.all() : shelves.within(only))
        if (isLeaving(object, version)) leaving.push(object);
      const coming: Upsert[] = [];
      for (const names of staged.values()) {
        for (const listed of names.values()) {
          const change = listed === 'kept' ? undefined : comingOf(listed, version);
          if (change !== undefined) coming.push(change);
        }
      }
      return { deletions: leaving, upserts: coming };
    },
  };
}

/** Shares with what is held, from the exact parse where the plain one has lost digits. */
export function shareExactly(
  old: KubernetesObject | undefined,
  fresh: { readonly object: KubernetesObject; readonly exactly: ExactParse },
): SharedObject {
  const shared = shareStructure(old, fresh.object);
  return shared.inexact ? shareStructure(old, fresh.exactly()) : shared;
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** Objects of one name are one object unless both have a uid and these differ. */
function isSame(uid: string, { metadata }: KubernetesObject): boolean {
  return uid === '' || metadata.uid === undefined || metadata.uid === '' || uid === metadata.uid;
}
