import { isJsonObject, type Json, parseJson } from '../../core/json.ts';
import type { ClusterShare } from '../model/inventory.ts';
import { marks, type PropagationMetadata } from '../model/propagation.ts';

/** A cluster whose copies a user has abandoned. If the cluster gets copies again, their share has another uid and is not abandoned. */
export interface AbandonedShare {
  readonly cluster: string;
  /** `metadata.uid` of the ClusterShare. */
  readonly share: string;
}

/** Reads the abandoned shares from the annotation of a Propagation. Empty if the annotation is invalid. */
export function abandonedOf({ metadata }: { readonly metadata: Pick<PropagationMetadata, 'annotations'> }): readonly AbandonedShare[] {
  const read = parseAnnotation(metadata.annotations[marks.abandon] ?? '{}');
  if (!isJsonObject(read)) return [];
  return Object.entries(read).flatMap(([cluster, share]) => (typeof share === 'string' ? [{ cluster, share }] : []));
}

/** True if a user abandoned the copies of this share. */
export function isAbandoned(
  propagation: { readonly metadata: Pick<PropagationMetadata, 'annotations'> },
  { cluster, uid }: Pick<ClusterShare, 'cluster' | 'uid'>,
): boolean {
  return abandonedOf(propagation).some((one) => one.cluster === cluster && one.share === uid);
}

/**
 * Prints the annotation for abandoned shares: `{"west":"4f5a…"}`. If a cluster has several, the last one counts. Null if there are none, so
 * that the annotation is removed.
 */
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
