import { equalJson } from '../../core/json/json-values.ts';
import type { ResourceVersion } from '../../core/names.ts';
import { identityOf, type KubernetesObject, type ObjectIdentity } from '../../core/objects.ts';
import type { ExactParse, ListStageOptions } from '../mirror-store.ts';
import { compareVersions } from '../versions.ts';
import type { StoreContents } from './contents.ts';
import { controllerUidOf } from './indexes.ts';
import { type SharedObject, shareStructure } from './structural-sharing.ts';

/** The changes that a list makes: first all deletions, then all upserts. */
export interface ReplacePlan {
  /** Objects that the list does not contain, or whose name another uid has taken. */
  readonly deletions: readonly KubernetesObject[];
  readonly upserts: readonly Upsert[];
}

interface Upsert extends SharedObject {
  /** The object that this one replaces. Undefined if this one is new. */
  readonly before?: KubernetesObject;
}

interface StagingOptions extends ListStageOptions {
  readonly contents: StoreContents;
  /** Returns the part of an object that the store keeps: without `managedFields`, or the metadata alone. */
  readonly formOf: (object: KubernetesObject) => KubernetesObject;
}

/** `'kept'`: the list contains the object that the store holds already. */
type StagedObject = SharedObject | 'kept';

/** The objects of a list that is being received, and the events that the store received meanwhile. */
export class StagedObjects {
  /** The namespace of the list. Undefined: the list is of all namespaces. */
  readonly namespace: string | undefined;
  readonly #contents: StoreContents;
  readonly #formOf: StagingOptions['formOf'];
  readonly #byContent: boolean;
  readonly #staged = new Map<string, Map<string, StagedObject>>();
  /** The last staged object of each controller, by its uid. A new object of the controller shares equal parts with it. */
  readonly #families = new Map<string, KubernetesObject>();
  /** The versions of the events that arrived since the list began, by object. */
  readonly #events = new Map<string, ResourceVersion | undefined>();

  #bytes = 0;

  constructor({ contents, namespace, byContent = false, formOf }: StagingOptions) {
    this.namespace = namespace;
    this.#contents = contents;
    this.#formOf = formOf;
    this.#byContent = byContent;
  }

  /** The estimated bytes of all objects that were added and were not in memory before. */
  get bytes(): number {
    return this.#bytes;
  }

  keep({ namespace, name, uid, version }: ObjectIdentity): boolean {
    if (this.#byContent || uid === '' || version === '' || !this.#covers(namespace)) return false;
    const held = this.#contents.objects.get(namespace, name)?.object.metadata;
    if (held?.uid !== uid || held.resourceVersion !== version) return false;
    this.#set(namespace, name, 'kept');
    return true;
  }

  add(object: KubernetesObject, exactly: ExactParse): void {
    const { namespace, name } = identityOf(object);
    if (!this.#covers(namespace)) return;
    const controller = controllerUidOf(object);
    const sibling = (controller === undefined ? undefined : this.#families.get(controller)) ?? this.#contents.siblingOf(object);
    const shared = shareExactly(this.#contents.objects.get(namespace, name)?.object ?? sibling, {
      object: this.#formOf(object),
      exactly: () => this.#formOf(exactly()),
    });
    this.#set(namespace, name, shared);
    this.#bytes += shared.weight.own;
    if (controller !== undefined) this.#families.set(controller, shared.object);
  }

  remove(namespace: string, name: string): void {
    this.#staged.get(namespace)?.delete(name);
  }

  /** Records that an event about this object reached the store. If the event is newer than the list, `plan` does not undo it. */
  noteEvent(namespace: string, name: string, version: ResourceVersion | undefined): void {
    this.#events.set(keyOf(namespace, name), version);
  }

  /** Plans the changes that the list of this version makes. Does not change the contents. */
  plan(version: ResourceVersion | undefined): ReplacePlan {
    const { objects } = this.#contents;
    const deletions: KubernetesObject[] = [];
    for (const { object } of this.namespace === undefined ? objects.all() : objects.within(this.namespace))
      if (this.#isDeleted(object, version)) deletions.push(object);
    const upserts: Upsert[] = [];
    for (const names of this.#staged.values()) {
      for (const listed of names.values()) {
        const upsert = listed === 'kept' ? undefined : this.#upsertOf(listed, version);
        if (upsert !== undefined) upserts.push(upsert);
      }
    }
    return { deletions, upserts };
  }

  #covers(namespace: string): boolean {
    return this.namespace === undefined || namespace === this.namespace;
  }

  #set(namespace: string, name: string, value: StagedObject): void {
    const names = this.#staged.get(namespace);
    if (names === undefined) this.#staged.set(namespace, new Map([[name, value]]));
    else names.set(name, value);
  }

  #isDeleted(object: KubernetesObject, version: ResourceVersion | undefined): boolean {
    const { namespace, name, uid } = identityOf(object);
    const listed = this.#staged.get(namespace)?.get(name);
    if (listed !== undefined && (listed === 'kept' || isSame(uid, listed.object))) return false;
    return !this.#hasNewerEvent(namespace, name, version);
  }

  #upsertOf(listed: SharedObject, version: ResourceVersion | undefined): Upsert | undefined {
    const { namespace, name, uid } = identityOf(listed.object);
    if (this.#hasNewerEvent(namespace, name, version)) return undefined;
    const before = this.#contents.objects.get(namespace, name)?.object;
    if (before === undefined || !isSame(uid, before)) return listed;
    // An event may have made the object equal since it was listed.
    const isEqual = listed.object === before || (this.#events.has(keyOf(namespace, name)) && equalJson(listed.object, before));
    return isEqual ? undefined : { ...listed, before };
  }

  /** True if an event about the object is of a later version than the list. The list then does not undo the event. */
  #hasNewerEvent(namespace: string, name: string, version: ResourceVersion | undefined): boolean {
    // Most lists meet no event, and have thousands of objects.
    const eventVersion = this.#events.size === 0 ? undefined : this.#events.get(keyOf(namespace, name));
    return eventVersion !== undefined && version !== undefined && (compareVersions(eventVersion, version) ?? 0) > 0;
  }
}

/**
 * Returns the fresh object, with its equal parts taken from the old one to save memory, or the old object if both are equal. Uses the exact
 * parse if the plain parse has lost digits of an integer.
 */
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

/** True if two objects of one name are the same object. That is the case unless both have a uid and the uids differ. */
function isSame(uid: string, { metadata }: KubernetesObject): boolean {
  return uid === '' || metadata.uid === undefined || metadata.uid === '' || uid === metadata.uid;
}
