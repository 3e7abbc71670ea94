import { marks, type PropagationMetadata } from '../propagation.ts';

/** The clusters whose copies were given up. An annotation that is no such list gives up none. */
export function abandonedOf({ metadata }: { readonly metadata: Pick<PropagationMetadata, 'annotations'> }): readonly string[] {
  try {
    const read: unknown = JSON.parse(metadata.annotations[marks.abandon] ?? '[]');
    return Array.isArray(read) ? read.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

/** The annotation that gives up these: a JSON list, as the name of a cluster may hold commas. */
export function printAbandoned(clusters: readonly string[]): string {
  return JSON.stringify([...new Set(clusters)].sort());
}
