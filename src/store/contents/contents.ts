import type { Clock } from '../../core/clock.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { FrozenObjects } from '../mirror-store.ts';
import { controllerUidOf, createObjectIndexes, type ObjectIndexes } from './indexes.ts';
import { createObjectMap, type ObjectMap, type ObjectSlot } from './object-map.ts';
import type { ObjectWeight } from './structural-sharing.ts';

/** The objects of one mirror with all ways to them, changed together. */
export interface StoreContents {
  readonly objects: Omit<ObjectMap, 'add' | 'remove' | 'touch' | 'clear'>;
  readonly indexes: Pick<ObjectIndexes, 'find' | 'count' | 'findInOrder'>;
  /** Estimated bytes held. */
  readonly bytes: number;
  /** The last object of the same controller: most of a new one is equal to it. It may have left already. */
  siblingOf(object: KubernetesObject): KubernetesObject | undefined;
  /** Adds the object, or replaces the one of its name. */
  put(object: KubernetesObject, weight: ObjectWeight): void;
  /** Gives what stood there. */
  remove(namespace: string, name: string): ObjectSlot | undefined;
  clear(): void;
  /** The objects as of now. Later changes do not show in it. The caller has to dispose of it. */
  freeze(): FrozenObjects;
}

/** What an object costs beside its own bytes: its place in the maps, and its `ObjectSlot`. */
const bytesPerPlace = 128;

/** Empty contents. */
export function createStoreContents(clock: Clock): StoreContents {
  const shelves = createObjectMap();
  const indexes = createObjectIndexes(() => shelves.all(), clock);
  const families = new Map<string, { object: KubernetesObject; members: number }>();
  /** For each frozen state, the objects that were replaced or removed since. The value is `undefined` for an object that was added. */
  const moments = new Set<Map<string, KubernetesObject | undefined>>();
  let bytes = 0;

  const noteBefore = (namespace: string, name: string, before: KubernetesObject | undefined): void => {
    if (moments.size === 0) return;
    const key = keyOf(namespace, name);
    for (const changed of moments) if (!changed.has(key)) changed.set(key, before);
  };

  const join = (controller: string | undefined, object: KubernetesObject, members: number): void => {
    if (controller === undefined) return;
    const family = families.get(controller);
    if (family === undefined) {
      families.set(controller, { object, members });
      return;
    }
    family.object = object;
    family.members += members;
  };

  const leave = (controller: string | undefined): void => {
    const family = controller === undefined ? undefined : families.get(controller);
    if (controller === undefined || family === undefined) return;
    family.members -= 1;
    if (family.members === 0) families.delete(controller);
  };

  const replace = (held: ObjectSlot, object: KubernetesObject, weight: ObjectWeight): void => {
    const before = held.object;
    // What it shared with its predecessor is its own now; what that one shared with siblings it still shares.
    const ownBytes = Math.max(weight.own, weight.total - (held.totalBytes - held.ownBytes));
    bytes += ownBytes - held.ownBytes;
    held.object = object;
    held.totalBytes = weight.total;
    held.ownBytes = ownBytes;
    indexes.replace(held, before);
    const [old, controller] = [controllerUidOf(before), controllerUidOf(object)];
    join(controller, object, old === controller ? 0 : 1);
    if (old !== controller) leave(old);
  };

  return {
    objects: shelves,
    indexes,
    get bytes() {
      return bytes + shelves.size * bytesPerPlace + indexes.bytes;
    },
    siblingOf(object) {
      const controller = controllerUidOf(object);
      return controller === undefined ? undefined : families.get(controller)?.object;
    },
    put(object, weight) {
      const { name, namespace = '' } = object.metadata;
      const held = shelves.get(namespace, name);
      noteBefore(namespace, name, held?.object);
      if (held !== undefined) {
        replace(held, object, weight);
        shelves.noteReplaced(namespace);
        return;
      }
      const fresh: ObjectSlot = { object, totalBytes: weight.total, ownBytes: weight.own };
      shelves.add(namespace, name, fresh);
      indexes.add(fresh);
      bytes += weight.own;
      join(controllerUidOf(object), object, 1);
    },
    remove(namespace, name) {
      const held = shelves.get(namespace, name);
      if (held === undefined) return undefined;
      noteBefore(namespace, name, held.object);
      shelves.remove(namespace, name);
      indexes.remove(held);
      bytes -= held.ownBytes;
      leave(controllerUidOf(held.object));
      return held;
    },
    clear() {
      if (moments.size > 0)
        for (const { object } of shelves.all()) noteBefore(object.metadata.namespace ?? '', object.metadata.name, object);
      shelves.clear();
      indexes.clear();
      families.clear();
      bytes = 0;
    },
    freeze() {
      const changed = new Map<string, KubernetesObject | undefined>();
      moments.add(changed);
      return {
        get(namespace, name) {
          const key = changed.size === 0 ? undefined : keyOf(namespace, name);
          return key !== undefined && changed.has(key) ? changed.get(key) : shelves.get(namespace, name)?.object;
        },
        [Symbol.dispose]: () => void moments.delete(changed),
      };
    },
  };
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
