import { isJsonObject } from '../../core/json.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { StoreEvent, StoreReader } from '../../store/mirror-store.ts';

/** What a CustomResourceDefinition says of its kind. */
interface CustomKind extends GroupKind {
  readonly uid: string;
  /** Counts changes of its spec: what is served at a version may be another thing after one. */
  readonly generation: string;
  /** The API server serves it, or is about to. */
  readonly established: boolean;
}

/** Undefined for what does not look like a definition. */
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

/** The custom kinds that a cluster's definitions define, as they come and go. */
export interface CustomKinds {
  /** By `keyOfKind`. */
  get(key: string): CustomKind | undefined;
  /** The definitions that are established now. */
  established(): readonly CustomKind[];
  /** Follows the mirror of the definitions; the same one twice is once. */
  follow(mirror: StoreReader, signal: AbortSignal): void;
}

/** Told at the end of the turn in which the mirror of the definitions changed. */
interface DefinitionsListener {
  /** A kind has been defined and established. */
  onDefined(kind: CustomKind): void;
  /** Its definition has changed. */
  onChanged(kind: CustomKind): void;
  /** It has been taken away, or defined anew: its objects went with it. */
  onRemoved(kind: CustomKind): void;
}

/** Knows nothing until it follows a mirror. */
export function createCustomKinds(listener: DefinitionsListener): CustomKinds {
  const known = new Map<string, CustomKind>();
  const followed = new WeakSet<StoreReader>();

  function take(event: StoreEvent): void {
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
      tell(before, definition);
    }
  }

  function tell(before: CustomKind | undefined, now: CustomKind): void {
    if (before !== undefined && before.uid !== now.uid) listener.onRemoved(before);
    if (now.established && !(before?.established && before.uid === now.uid)) listener.onDefined(now);
    else if (before !== undefined && before.generation !== now.generation) listener.onChanged(now);
  }

  /** What was missed is told as if it had been seen. */
  function takeAll(objects: Iterable<KubernetesObject>): void {
    const gone = new Map(known);
    for (const object of objects) {
      const definition = customKindOf(object);
      if (definition !== undefined) gone.delete(keyOfKind(definition));
      take({ type: 'applied', object, version: undefined });
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
        if (events.some(({ type }) => type === 'reset')) takeAll(mirror.objects());
        else for (const event of events) take(event);
      }, signal);
      if (mirror.version !== undefined) takeAll(snapshot);
    },
  };
}
