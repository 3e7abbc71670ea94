import type { NodeRoom } from './node-rooms.ts';
import type { ResourceAmounts } from './resource-amounts.ts';

/** Nodes of about one size. */
interface NodeGrade {
  readonly grade: number;
  /** What each of them has free at least. */
  readonly minimums: ResourceAmounts;
}

/** Pods that a Node takes, where nobody says otherwise (Kubernetes, "Considerations for large clusters"). */
const podsPerNode = 110;

/**
 * The Nodes counted by grade as rooms, each as small as its grade allows, lowest grade first. Undefined if that says nothing: no grades, or a count below
 * zero.
 */
export function roomsOfGrades(
  grades: readonly NodeGrade[],
  counts: readonly { readonly grade: number; readonly count: number }[],
): readonly NodeRoom[] | undefined {
  if (grades.length === 0 || counts.some(({ count }) => count < 0)) return undefined;
  return [...grades]
    .sort((a, b) => a.grade - b.grade)
    .map(({ grade, minimums }) => ({
      free: new Map([...minimums, ['pods', podsPerNode]]),
      count: counts.filter((counted) => counted.grade === grade).reduce((sum, { count }) => sum + count, 0),
    }));
}
