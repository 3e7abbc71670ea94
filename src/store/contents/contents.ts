import type { Clock } from '../../core/clock.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { FrozenObjects } from '../mirror-store.ts';
import { controllerUidOf, ObjectIndexes } from './indexes.ts';
import { ObjectMap, type ObjectSlot } from './object-map.ts';
import type { ObjectWeight } from './structural-sharing.ts';

/** Bytes that an object costs in addition to its own: its entries in the maps, and its slot. */
const bytesPerSlot = 128;

/** The objects of one mirror with their indexes, changed together. */
export class StoreContents {
  readonly #objects = new ObjectMap();
  readonly #indexes: ObjectIndexes;
  /** For each controller, by its uid: the object that was stored last, and the number of objects in the store. */
  readonly #families = new Map<string, { object: KubernetesObject; members: number }>();
  /**
   * One map for each result of `freeze` that is not disposed of yet. It has the objects that changed since then, each as it was before. The
   * value is `undefined` if no object had the name.
   */
  readonly #frozen = new Set<Map<string, KubernetesObject | undefined>>();
  #bytes = 0;
  #revision = 0;

  constructor(clock: Clock) {
    this.#indexes = new ObjectIndexes(() => this.#objects.all(), clock);
  }

  get objects(): Omit<ObjectMap, 'add' | 'remove' | 'noteReplaced' | 'clear'> {
    return this.#objects;
  }

  get indexes(): Pick<ObjectIndexes, 'find' | 'count' | 'findInOrder'> {
    return this.#indexes;
  }

  /** Grows with each change of the objects. */
  get revision(): number {
    return this.#revision;
  }

  /** Estimated bytes held. */
  get bytes(): number {
    return this.#bytes + this.#objects.size * bytesPerSlot + this.#indexes.bytes;
  }

  /**
   * Returns the object that was stored last for the same controller. The new object mostly equals it, and can share its parts. Undefined
   * without a controller, or if none was stored. The returned object may have been deleted since.
   */
  siblingOf(object: KubernetesObject): KubernetesObject | undefined {
    const controller = controllerUidOf(object);
    return controller === undefined ? undefined : this.#families.get(controller)?.object;
  }

  /** Adds the object, or replaces the object of its name. */
  put(object: KubernetesObject, weight: ObjectWeight): void {
    const { name, namespace = '' } = object.metadata;
    this.#revision += 1;
    const slot = this.#objects.get(namespace, name);
    this.#noteBefore(namespace, name, slot?.object);
    if (slot !== undefined) {
      this.#replace(slot, object, weight);
      this.#objects.noteReplaced(namespace);
      return;
    }
    const added: ObjectSlot = { object, totalBytes: weight.total, ownBytes: weight.own };
    this.#objects.add(namespace, name, added);
    this.#indexes.add(added);
    this.#bytes += weight.own;
    this.#joinFamily(controllerUidOf(object), object, 1);
  }

  /** Removes an object and returns its slot. Undefined if no object has the name. */
  remove(namespace: string, name: string): ObjectSlot | undefined {
    const slot = this.#objects.get(namespace, name);
    if (slot === undefined) return undefined;
    this.#revision += 1;
    this.#noteBefore(namespace, name, slot.object);
    this.#objects.remove(namespace, name);
    this.#indexes.remove(slot);
    this.#bytes -= slot.ownBytes;
    this.#leaveFamily(controllerUidOf(slot.object));
    return slot;
  }

  clear(): void {
    this.#revision += 1;
    if (this.#frozen.size > 0)
      for (const { object } of this.#objects.all()) this.#noteBefore(object.metadata.namespace ?? '', object.metadata.name, object);
    this.#objects.clear();
    this.#indexes.clear();
    this.#families.clear();
    this.#bytes = 0;
  }

  /** Returns the objects as they are now. Later changes do not show in the result. The caller must dispose of the result. */
  freeze(): FrozenObjects {
    const changed = new Map<string, KubernetesObject | undefined>();
    this.#frozen.add(changed);
    return {
      get: (namespace, name) => {
        const key = changed.size === 0 ? undefined : keyOf(namespace, name);
        return key !== undefined && changed.has(key) ? changed.get(key) : this.#objects.get(namespace, name)?.object;
      },
      [Symbol.dispose]: () => void this.#frozen.delete(changed),
    };
  }

  #noteBefore(namespace: string, name: string, before: KubernetesObject | undefined): void {
    if (this.#frozen.size === 0) return;
    const key = keyOf(namespace, name);
    for (const changed of this.#frozen) if (!changed.has(key)) changed.set(key, before);
  }

  #replace(slot: ObjectSlot, object: KubernetesObject, weight: ObjectWeight): void {
    const before = slot.object;
    // The predecessor is dropped, so bytes shared only with the predecessor now count for the new object. Bytes that the predecessor shared
    // with siblings are assumed to be shared with the new object, and still count for the siblings.
    const ownBytes = Math.max(weight.own, weight.total - (slot.totalBytes - slot.ownBytes));
    this.#bytes += ownBytes - slot.ownBytes;
    slot.object = object;
    slot.totalBytes = weight.total;
    slot.ownBytes = ownBytes;
    this.#indexes.replace(slot, before);
    const [old, controller] = [controllerUidOf(before), controllerUidOf(object)];
    this.#joinFamily(controller, object, old === controller ? 0 : 1);
    if (old !== controller) this.#leaveFamily(old);
  }

  #joinFamily(controller: string | undefined, object: KubernetesObject, members: number): void {
    if (controller === undefined) return;
    const family = this.#families.get(controller);
    if (family === undefined) {
      this.#families.set(controller, { object, members });
      return;
    }
    family.object = object;
    family.members += members;
  }

  #leaveFamily(controller: string | undefined): void {
    const family = controller === undefined ? undefined : this.#families.get(controller);
    if (controller === undefined || family === undefined) return;
    family.members -= 1;
    if (family.members === 0) this.#families.delete(controller);
  }
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
