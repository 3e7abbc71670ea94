// Measures the first answer for a caller with many candidate namespaces in one cluster, whose API server answers a review in 5 ms.
//   access/cold-caller.ts NAMESPACES
import { systemClock } from '../../../../src/core/clock.ts';
import { createFakeMirrors } from '../../../support/graph/fake-mirrors.ts';
import { finish } from '../../support/measuring.ts';
import { benchCaller, createBenchAccess, engageReviewing } from '../../support/reviewing-clusters.ts';

const namespacesEach = Number(process.argv[2] ?? '75');
const { signal } = new AbortController();
const mirrors = createFakeMirrors(systemClock);
const access = createBenchAccess(mirrors, systemClock, signal);
const cluster = mirrors.join('bench');
const reviews = engageReviewing(access, cluster, { rights: { teams: 20, namespacesEach }, signal, answerMs: 5 });
// The second check after a change of RBAC objects, and the import of client-node by the first review, are no part of the answer.
await new Promise((resolve) => setTimeout(resolve, 1_500));
const request = { cluster: cluster.name, kind: { group: '', kind: 'Pod' }, verb: 'list' } as const;
await access.visibilityOf({ ...request, caller: benchCaller('first', 'all') }, signal);
const before = reviews.count;

const coldStart = performance.now();
const visibility = await access.visibilityOf({ ...request, caller: benchCaller('cold', 0) }, signal);
const coldMs = performance.now() - coldStart;
const coldReviews = reviews.count - before;
if (visibility.type !== 'namespaces' || visibility.namespaces.size !== namespacesEach) throw new Error(JSON.stringify(visibility));

// Ten more cold callers at once show the bounds.
const begun = reviews.count;
const crowdStart = performance.now();
await Promise.all(
  Array.from({ length: 10 }, (_, team) => access.visibilityOf({ ...request, caller: benchCaller(`crowd-${team}`, team + 1) }, signal)),
);
const crowdSeconds = (performance.now() - crowdStart) / 1_000;
const crowdReviews = reviews.count - begun;
finish({
  coldMs,
  coldReviews,
  mostInFlight: reviews.mostInFlight,
  // The bound is a window of one second, so a burst of 200 comes before the first second has passed.
  perSecond: Math.max(0, crowdReviews - 200 + coldReviews) / crowdSeconds,
});
