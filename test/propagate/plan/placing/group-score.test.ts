import { describe, expect, test } from 'vitest';
import { type GroupDemand, groupScore, type ScoredCluster } from '../../../../src/propagate/plan/placing/group-score.ts';

const infinity = Number.POSITIVE_INFINITY;

describe('the score of a group', () => {
  test.each<[string, readonly ScoredCluster[], Partial<GroupDemand>, number]>([
    [
      'duplicated: clusters with room for all, then how many hold it',
      scored([60, 100], [70, 100], [40, 100]),
      { replicas: 50, duplicated: true },
      2_100,
    ],
    ['duplicated: the mean is rounded down', scored([60, 100], [70, 0], [50, 100]), { replicas: 50, duplicated: true }, 3_066],
    ['duplicated: nowhere is room', scored([1, 100]), { replicas: 50, duplicated: true }, 0],
    ['duplicated: nobody is there', [], { replicas: 10, duplicated: true }, 0],
    ['divided: room for its part', scored([40, 100], [40, 0], [10, 0]), { replicas: 100, minGroups: 2 }, 50_050],
    ['divided: too little room', scored([10, 100], [10, 100], [5, 0]), { replicas: 100, minGroups: 2 }, 25_066],
    [
      'divided: as many clusters are looked at as there must be',
      scored([90, 100], [0, 0], [0, 0]),
      { replicas: 30, minClusters: 3 },
      30_033,
    ],
    ['divided: the part is rounded up', scored([9, 0]), { replicas: 25, minGroups: 3 }, 9_000],
    ['divided: room without end', scored([infinity, 100]), { replicas: 7 }, 7_100],
    ['divided: nothing to place', scored([0, 100]), { replicas: 0 }, 100],
  ])('%s', (_, clusters, demand, expected) => {
    expect(groupScore(clusters, { replicas: 0, duplicated: false, minGroups: 1, minClusters: 0, ...demand })).toBe(expected);
  });
});

function scored(...clusters: readonly (readonly [number, number])[]): readonly ScoredCluster[] {
  return clusters.map(([available, score]) => ({ available, score }));
}
