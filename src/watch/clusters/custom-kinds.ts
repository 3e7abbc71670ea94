import { isJsonObject } from '../../core/json.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { StoreEvent, StoreReader } from '../../store/mirror-store.ts';

/** A custom kind, as its CustomResourceDefinition describes it. */
interface CustomKind extends GroupKind {
  readonly uid: string;
  /**
   * A text that changes with each change of the spec. After such a change, an object may have other content although its resourceVersion is
   * the same.
   */
  readonly generation: string;
  /** True if the API server serves the kind, or will in a moment. */
  readonly established: boolean;
}

/** Reads a CustomResourceDefinition. Returns undefined for an object that is no valid definition. */
function customKindOf({ metadata, spec, status }: KubernetesObject): CustomKind | undefined {
  const names = isJsonObject(spec) ? spec.names : undefined;
  if (!isJsonObject(spec) || typeof spec.group !== 'string' || !isJsonObject(names) || typeof names.kind !== 'string') return undefined;
  const conditions = isJsonObject(status) && Array.isArray(status.conditions) ? status.conditions : [];
  return {
    group: spec.group,
    kind: names.kind,
    uid: metadata.uid ?? '',
    generation: JSON.stringify(metadata.generation ?? ''),
    established: conditions.some((condition) => isJsonObject(condition) && condition.type === 'Established' && condition.status === 'True'),
  };
}

/** The custom kinds that a cluster's definitions define at this moment. */
export interface CustomKinds {
  /**
   * Returns the custom kind. Undefined if no followed definition defines it.
   *
   * @param key The result of `keyOfKind`.
   */
  get(key: string): CustomKind | undefined;
  /** Returns the kinds whose definition is established. */
  established(): readonly CustomKind[];
  /** Updates the custom kinds by a mirror of definitions, until the signal aborts. Following the same mirror again has no effect. */
  follow(mirror: StoreReader, signal: AbortSignal): void;
}

/** Called in the event-loop turn after a change of the followed mirror. `follow` calls it at once for the definitions already mirrored. */
interface CustomKindsListener {
  /** A kind was defined and established. */
  onDefined(kind: CustomKind): void;
  /** The definition of a kind has changed. */
  onChanged(kind: CustomKind): void;
  /** The definition was deleted, or replaced by another one. The objects of the kind are gone. */
  onRemoved(kind: CustomKind): void;
}

/** Creates the custom kinds of a cluster. There are none until `follow` is called. */
export function createCustomKinds(listener: CustomKindsListener): CustomKinds {
  const known = new Map<string, CustomKind>();
  const followed = new WeakSet<StoreReader>();

  function apply(event: StoreEvent): void {
    if (event.type !== 'applied' && event.type !== 'deleted') return;
    const definition = customKindOf(event.object);
    if (definition === undefined) return;
    const key = keyOfKind(definition);
    const before = known.get(key);
    if (event.type === 'deleted') {
      if (before === undefined || before.uid !== definition.uid) return;
      known.delete(key);
      listener.onRemoved(definition);
    } else {
      known.set(key, definition);
      compare(before, definition);
    }
  }

  function compare(before: CustomKind | undefined, now: CustomKind): void {
    if (before !== undefined && before.uid !== now.uid) listener.onRemoved(before);
    if (now.established && !(before?.established && before.uid === now.uid)) listener.onDefined(now);
    else if (before !== undefined && before.generation !== now.generation) listener.onChanged(now);
  }

  /** Compares all definitions with the known ones, and calls the listener for the changes that were missed. */
  function applyAll(objects: Iterable<KubernetesObject>): void {
    const gone = new Map(known);
    for (const object of objects) {
      const definition = customKindOf(object);
      if (definition !== undefined) gone.delete(keyOfKind(definition));
      apply({ type: 'applied', object, version: undefined });
    }
    for (const [key, definition] of gone) {
      known.delete(key);
      listener.onRemoved(definition);
    }
  }

  return {
    get: (key) => known.get(key),
    established: () => [...known.values()].filter(({ established }) => established),
    follow(mirror, signal) {
      if (followed.has(mirror)) return;
      followed.add(mirror);
      const { snapshot } = mirror.follow((events) => {
        if (events.some(({ type }) => type === 'reset')) applyAll(mirror.objects());
        else for (const event of events) apply(event);
      }, signal);
      if (mirror.version !== undefined) applyAll(snapshot);
    },
  };
}
