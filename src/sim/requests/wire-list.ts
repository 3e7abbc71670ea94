import { apiVersionOf } from '../../core/kinds.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import type { SimObject, WireForm } from '../kinds/sim-object.ts';

/** Metadata of a list. */
export interface ListMetadata {
  /** Absent for kinds without versions. */
  readonly version?: string;
  readonly continue?: string;
  readonly remaining?: number;
}

/** Returns the text before and after the items of a list. */
export function listFrame(kind: SimKind, form: WireForm, facts: ListMetadata & { readonly isEmpty: boolean }): readonly [string, string] {
  const { version, continue: token, remaining, isEmpty } = facts;
  const apiVersion = apiVersionOf({ group: kind.group, version: form.version });
  if (kind.source === 'custom' && form.shape !== 'metadata') {
    const metadata = JSON.stringify({ continue: token ?? '', remainingItemCount: remaining, resourceVersion: version });
    return [`{"apiVersion":"${apiVersion}","items":[`, `],"kind":"${kind.listKind}","metadata":${metadata}}`];
  }
  const metadata = JSON.stringify({ resourceVersion: version, continue: token, remainingItemCount: remaining });
  const own = form.shape === 'metadata' ? ['PartialObjectMetadataList', 'meta.k8s.io/v1'] : [kind.listKind, apiVersion];
  const start = `{"kind":"${own[0]}","apiVersion":"${own[1]}","metadata":${metadata},"items":`;
  // Go prints an empty slice as `[]` and a nil slice as `null`. An empty list of PartialObjectMetadata has a nil slice.
  return form.shape === 'metadata' && isEmpty ? [`${start}null`, '}'] : [`${start}[`, ']}'];
}

/** Returns the object of a bookmark. An empty version leaves out the resourceVersion. */
export function bookmarkText(kind: SimKind, form: WireForm, version: string, options: { readonly endsInitialEvents: boolean }): string {
  const annotations = options.endsInitialEvents ? { 'k8s.io/initial-events-end': 'true' } : undefined;
  const resourceVersion = version === '' ? undefined : version;
  const apiVersion = apiVersionOf({ group: kind.group, version: form.version });
  if (form.shape === 'metadata') {
    return JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion, annotations } });
  }
  if (kind.source === 'custom') return JSON.stringify({ apiVersion, kind: kind.kind, metadata: { annotations, resourceVersion } });
  const zero = kind.zero === '' ? '' : `,${kind.zero}`;
  return `${JSON.stringify({ kind: kind.kind, apiVersion, metadata: { resourceVersion, annotations } }).slice(0, -1)}${zero}}`;
}

/** A position in a list of one revision: the objects after a key. */
export interface ContinueToken {
  readonly revision: number;
  readonly after: string;
}

/** Prints a token as Kubernetes does: base64url of `{ v, rv, start }`. Revision -1 means the rest of the list at the current revision. */
export function printToken({ revision, after }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `${after}\u0000` })).toString('base64url');
}

/** Parses a continue token. Undefined if the text is not a token. */
export function parseToken(text: string): ContinueToken | undefined {
  try {
    const token: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (typeof token !== 'object' || token === null || !('rv' in token) || !('start' in token)) return undefined;
    const { rv, start } = token;
    return typeof rv === 'number' && typeof start === 'string' ? { revision: rv, after: start.replace(/\0$/, '') } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the index of the first object after the key, in a sorted list. */
export function indexAfter(objects: readonly SimObject[], key: string): number {
  let [low, high] = [0, objects.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((objects[middle]?.key ?? '') <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}
