// Measures the decisions of many users in many clusters: their memory, and the time of a decision that is known.
//   access/decisions.ts USERS CLUSTERS
// Nine users of ten may see all namespaces. The tenth has ten namespaces, which are eleven decisions in each cluster.
import type { Caller } from '../../../../src/access/access.ts';
import type { Clock } from '../../../../src/core/clock.ts';
import type { ClusterName } from '../../../../src/core/names.ts';
import { createFakeMirrors } from '../../../support/graph/fake-mirrors.ts';
import { finish, reachableBytes } from '../../support/measuring.ts';
import { benchCaller, createBenchAccess, engageReviewing } from '../../support/reviewing-clusters.ts';

const [userCount, clusterCount] = [Number(process.argv[2] ?? '1000'), Number(process.argv[3] ?? '100')];
const rights = { teams: 10, namespacesEach: 10 };
/** Reviews that one cluster may begin in one second. The clock jumps by a second after so many. */
const reviewsPerSecond = 200;
const timed = 200_000;

let nowMs = 0;
// No sleep ends by itself: the clock moves between the steps only.
const clock: Clock = {
  now: () => nowMs,
  monotonic: () => nowMs,
  random: Math.random,
  sleep: (_ms, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
};
const { signal } = new AbortController();
const mirrors = createFakeMirrors(clock);
const access = createBenchAccess(mirrors, clock, signal);
const clusters: ClusterName[] = [];
for (let index = 0; index < clusterCount; index += 1) {
  const cluster = mirrors.join(`cluster-${index}`);
  engageReviewing(access, cluster, { rights, signal });
  clusters.push(cluster.name);
}
await new Promise((resolve) => setImmediate(resolve));
const users = Array.from({ length: userCount }, (_, index) => benchCaller(`user-${index}`, index % 10 === 0 ? (index / 10) % 10 : 'all'));

const see = (caller: Caller, cluster: ClusterName) =>
  access.visibilityOf({ caller, cluster, kind: { group: '', kind: 'Pod' }, verb: 'list' }, signal);

// The first review imports client-node, which is no part of the decisions.
await Promise.all(clusters.map((cluster) => see(benchCaller('first', 'all'), cluster)));
nowMs += 1_001;
const before = await reachableBytes();
let left = reviewsPerSecond;
for (const [index, caller] of users.entries()) {
  const cost = index % 10 === 0 ? rights.namespacesEach + 1 : 1;
  if (left < cost) {
    nowMs += 1_001;
    left = reviewsPerSecond;
  }
  left -= cost;
  await Promise.all(clusters.map((cluster) => see(caller, cluster)));
}
const bytes = (await reachableBytes()) - before;
// Set back, so that all decisions hold at the same time.
nowMs = 0;

const times = new Float64Array(timed);
let unknown = 0;
for (let round = -timed / 4; round < timed; round += 1) {
  const caller = users[Math.floor(Math.random() * users.length)] as Caller;
  const cluster = clusters[Math.floor(Math.random() * clusters.length)] as ClusterName;
  const start = process.hrtime.bigint();
  const visibility = see(caller, cluster);
  const took = Number(process.hrtime.bigint() - start) / 1_000;
  if (visibility instanceof Promise) unknown += 1;
  if (round >= 0) times[round] = took;
}
if (unknown > 0) throw new Error(`expected known decisions, ${unknown} were not`);
times.sort();
finish({ decisionsMb: bytes / 2 ** 20, p50Us: times[timed / 2] ?? Number.NaN, p99Us: times[Math.floor(timed * 0.99)] ?? Number.NaN });
