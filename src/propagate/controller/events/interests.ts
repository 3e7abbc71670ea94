import { type GroupKind, keyOfKind } from '../../../core/kinds.ts';
import type { ClusterName } from '../../../core/names.ts';
import type { MemberChange, MemberObjects, NamespacedName } from '../../../store/member-objects.ts';

/**
 * An object whose changes concern a key, which stands for a Propagation. The object is a copy, or a source of a template. Without `place`,
 * the interest is only in changes of the mirror as a whole, such as the end of its first list.
 */
export interface Interest {
  readonly cluster: ClusterName;
  readonly kind: GroupKind;
  readonly objectName?: NamespacedName;
}

/**
 * An index from objects to the keys that their changes concern. The cost of a change depends only on the number of keys with an interest in
 * it.
 */
export interface Interests {
  /** Replaces all interests of the key. Starts mirrors that become needed, and releases each mirror in which no key has an interest. */
  set(key: string, wanted: readonly Interest[]): void;
  /** Returns the keys that the change may concern. For a change of a cluster: all keys with an interest in that cluster. */
  keysOf(change: MemberChange): ReadonlySet<string>;
}

/** All interests in one mirror. */
interface MirrorInterest {
  readonly cluster: ClusterName;
  /** The keys of the Propagations with an interest in one object, by its namespace and name. */
  readonly byObject: Map<string, Set<string>>;
  /** The number of interests that each Propagation has in this mirror, by the key of the Propagation. */
  readonly byKey: Map<string, number>;
  readonly end: AbortController;
}

const noKeys: ReadonlySet<string> = new Set();

/** Creates an empty index. All mirrors are released when the signal aborts. */
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

  function want(key: string, { cluster, kind, objectName }: Interest): void {
    const at = textOfMirror(cluster, kind);
    let mirror = mirrors.get(at);
    if (mirror === undefined) {
      mirror = { cluster, byObject: new Map(), byKey: new Map(), end: new AbortController() };
      mirrors.set(at, mirror);
      objects.hold(cluster, kind, mirror.end.signal);
    }
    if (objectName !== undefined) {
      const keys = mirror.byObject.get(textOfName(objectName)) ?? new Set();
      mirror.byObject.set(textOfName(objectName), keys.add(key));
    }
    mirror.byKey.set(key, (mirror.byKey.get(key) ?? 0) + 1);
  }

  function unwant(key: string, { cluster, kind, objectName }: Interest): void {
    const at = textOfMirror(cluster, kind);
    const mirror = mirrors.get(at);
    if (mirror === undefined) return;
    const text = objectName === undefined ? undefined : textOfName(objectName);
    const keys = text === undefined ? undefined : mirror.byObject.get(text);
    keys?.delete(key);
    if (text !== undefined && keys?.size === 0) mirror.byObject.delete(text);
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
      // New interests are added first, so that a mirror which is still needed is never released.
      for (const [text, interest] of after) if (!before.has(text)) want(key, interest);
      for (const [text, interest] of before) if (!after.has(text)) unwant(key, interest);
      if (after.size > 0) wantedBy.set(key, after);
      else wantedBy.delete(key);
    },
    keysOf(change) {
      switch (change.type) {
        case 'object':
          return mirrors.get(textOfMirror(change.cluster, change.kind))?.byObject.get(textOfName(change.objectName)) ?? noKeys;
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

// The names of clusters, kinds and objects contain no line feed.
function textOfMirror(cluster: ClusterName, kind: GroupKind): string {
  return `${cluster}\n${keyOfKind(kind)}`;
}

function textOfName({ namespace, name }: NamespacedName): string {
  return `${namespace}/${name}`;
}

/** Returns equal texts for equal interests. Without a name: the common prefix of all interests in that mirror. */
export function textOfInterest({
  cluster,
  kind,
  objectName,
}: Omit<Interest, 'objectName'> & { readonly objectName?: NamespacedName | undefined }): string {
  return `${textOfMirror(cluster, kind)}\n${objectName === undefined ? '' : textOfName(objectName)}`;
}
