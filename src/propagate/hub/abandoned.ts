import { isJsonObject, type Json, parseJson } from '../../core/json.ts';
import type { ClusterShare } from '../model/inventory.ts';
import { marks, type PropagationMetadata } from '../model/propagation.ts';

/** A cluster whose copies were given up: those of that very share, and of none that comes after it. */
export interface AbandonedShare {
  readonly cluster: string;
  /** `metadata.uid` of the ClusterShare. */
  readonly share: string;
}

/** What was given up, by the name of the cluster. An annotation that is no such map gives up nothing. */
export function abandonedOf({ metadata }: { readonly metadata: Pick<PropagationMetadata, 'annotations'> }): readonly AbandonedShare[] {
  const read = parseAnnotation(metadata.annotations[marks.abandon] ?? '{}');
  if (!isJsonObject(read)) return [];
  return Object.entries(read).flatMap(([cluster, share]) => (typeof share === 'string' ? [{ cluster, share }] : []));
}

/** True if somebody gave up what this share has. */
export function isAbandoned(
  propagation: { readonly metadata: Pick<PropagationMetadata, 'annotations'> },
  { cluster, uid }: Pick<ClusterShare, 'cluster' | 'uid'>,
): boolean {
  return abandonedOf(propagation).some((one) => one.cluster === cluster && one.share === uid);
}

/** The annotation that gives up these: `{"west":"4f5a…"}`. Of one cluster the last holds. Null: none, and the annotation goes. */
export function printAbandoned(abandoned: readonly AbandonedShare[]): string | null {
  const sorted = abandoned.toSorted((a, b) => (a.cluster < b.cluster ? -1 : a.cluster === b.cluster ? 0 : 1));
  return sorted.length === 0 ? null : JSON.stringify(Object.fromEntries(sorted.map(({ cluster, share }) => [cluster, share])));
}

function parseAnnotation(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
