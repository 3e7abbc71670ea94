import { type GroupKind, keyOfKind } from '../../../core/kinds.ts';
import type { ClusterName } from '../../../core/names.ts';
import type { MemberChange, MemberObjects, NamespacedName } from '../../../store/member-objects.ts';

/** One object that a key wants to hear of: a copy, or what a template refers to. Without a place a mirror as a whole: whether it can be read. */
export interface Interest {
  readonly cluster: ClusterName;
  readonly kind: GroupKind;
  readonly place?: NamespacedName;
}

/** Who wants to hear of which object: a change costs as much as there are keys interested in it, however many there are. */
export interface Interests {
  /** What the key wants to hear of from now on, instead of what it wanted. Mirrors are held for as long as anybody wants something of them. */
  set(key: string, wanted: readonly Interest[]): void;
  /** The keys that this change may be about. Of a cluster: those that want anything of it. */
  keysOf(change: MemberChange): ReadonlySet<string>;
}

/** What is wanted of one mirror: by whom, and of which objects. */
interface MirrorInterest {
  readonly cluster: ClusterName;
  readonly byPlace: Map<string, Set<string>>;
  /** Objects wanted by each key. */
  readonly byKey: Map<string, number>;
  readonly end: AbortController;
}

const nobody: ReadonlySet<string> = new Set();

/** Everything held ends with the signal. */
export function createInterests(objects: Pick<MemberObjects, 'hold'>, signal: AbortSignal): Interests {
  const mirrors = new Map<string, MirrorInterest>();
  const wantedBy = new Map<string, ReadonlyMap<string, Interest>>();
  signal.addEventListener(
    'abort',
    () => {
      for (const { end } of mirrors.values()) end.abort();
      mirrors.clear();
      wantedBy.clear();
    },
    { once: true },
  );

  function want(key: string, { cluster, kind, place }: Interest): void {
    const at = textOfMirror(cluster, kind);
    let mirror = mirrors.get(at);
    if (mirror === undefined) {
      mirror = { cluster, byPlace: new Map(), byKey: new Map(), end: new AbortController() };
      mirrors.set(at, mirror);
      objects.hold(cluster, kind, mirror.end.signal);
    }
    if (place !== undefined) {
      const keys = mirror.byPlace.get(textOfPlace(place)) ?? new Set();
      mirror.byPlace.set(textOfPlace(place), keys.add(key));
    }
    mirror.byKey.set(key, (mirror.byKey.get(key) ?? 0) + 1);
  }

  function unwant(key: string, { cluster, kind, place }: Interest): void {
    const at = textOfMirror(cluster, kind);
    const mirror = mirrors.get(at);
    if (mirror === undefined) return;
    const text = place === undefined ? undefined : textOfPlace(place);
    const keys = text === undefined ? undefined : mirror.byPlace.get(text);
    keys?.delete(key);
    if (text !== undefined && keys?.size === 0) mirror.byPlace.delete(text);
    const left = (mirror.byKey.get(key) ?? 0) - 1;
    if (left > 0) mirror.byKey.set(key, left);
    else mirror.byKey.delete(key);
    if (mirror.byKey.size > 0) return;
    mirrors.delete(at);
    mirror.end.abort();
  }

  return {
    set(key, wanted) {
      if (signal.aborted) return;
      const before = wantedBy.get(key) ?? new Map<string, Interest>();
      const after = new Map(wanted.map((interest) => [textOfInterest(interest), interest]));
      // What is wanted anew comes first: a mirror that goes on being wanted is never let go.
      for (const [text, interest] of after) if (!before.has(text)) want(key, interest);
      for (const [text, interest] of before) if (!after.has(text)) unwant(key, interest);
      if (after.size > 0) wantedBy.set(key, after);
      else wantedBy.delete(key);
    },
    keysOf(change) {
      switch (change.type) {
        case 'object':
          return mirrors.get(textOfMirror(change.cluster, change.kind))?.byPlace.get(textOfPlace(change.place)) ?? nobody;
        case 'mirror':
          return new Set(mirrors.get(textOfMirror(change.cluster, change.kind))?.byKey.keys());
        case 'cluster':
          return new Set([...mirrors.values()].flatMap(({ cluster, byKey }) => (cluster === change.cluster ? [...byKey.keys()] : [])));
        default:
          return change satisfies never;
      }
    },
  };
}

// Neither names of clusters nor of kinds and objects hold a line feed.
function textOfMirror(cluster: ClusterName, kind: GroupKind): string {
  return `${cluster}\n${keyOfKind(kind)}`;
}

function textOfPlace({ namespace, name }: NamespacedName): string {
  return `${namespace}/${name}`;
}

/** Equal for equal interests; without a place what all of that mirror begin with. */
export function textOfInterest({
  cluster,
  kind,
  place,
}: Omit<Interest, 'place'> & { readonly place?: NamespacedName | undefined }): string {
  return `${textOfMirror(cluster, kind)}\n${place === undefined ? '' : textOfPlace(place)}`;
}
