// Measures the CPU of the pure stages of a plan (no dry run) over many clusters, and of JSON.stringify of the rendered manifests.
//   plan-rendered.ts CLUSTERS ROUNDS
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import type { InventoryEntry } from '../../../../src/propagate/model/inventory.ts';
import type { RenderedPlan } from '../../../../src/propagate/model/plan.ts';
import { observedHashOf } from '../../../../src/propagate/plan/copies/observed-hash.ts';
import { renderPlan } from '../../../../src/propagate/plan/render-plan.ts';
import type { PlanSnapshot } from '../../../../src/propagate/plan/snapshot/snapshot.ts';
import { type ClusterFacts, comparisonRules, snapshotOf } from '../../../propagate/plan/snapshots.ts';
import { shopOverrides, shopTemplate } from '../../shop-template.ts';
import { cpuNow, cpuSince, finish, medianOf } from '../../support/measuring.ts';

const [clusterCount = '200', roundCount = '9'] = process.argv.slice(2);
const rounds = Number(roundCount);
const regions = ['eu-central-1', 'us-east-1', 'ap-south-1'];
const canaries = { selector: { matchLabels: { tier: 'canary' } } };
const names = Array.from({ length: Number(clusterCount) }, (_, index) => `cluster-${index}`);

const empty = snapshotIn(() => ({}));
const settled = settledAs(renderPlan(empty, comparisonRules));
for (let round = 0; round < 3; round += 1) measured(round);
const samples = Array.from({ length: rounds }, (_, round) => measured(round));
finish({
  newMs: medianOf(samples.map((sample) => sample.newMs)),
  settledMs: medianOf(samples.map((sample) => sample.settledMs)),
  againMs: medianOf(samples.map((sample) => sample.againMs)),
  stringifyMs: medianOf(samples.map((sample) => sample.stringifyMs)),
  objects: objectsIn(renderPlan(empty, comparisonRules)).length,
});

function measured(round: number) {
  let plan: RenderedPlan | undefined;
  const newMs = timed(() => {
    plan = renderPlan(empty, comparisonRules);
  });
  // New objects that no plan has compared yet, so no hash of them is cached.
  const fresh = settledAs(renderPlan(empty, comparisonRules));
  let kept: RenderedPlan | undefined;
  const settledMs = timed(() => {
    kept = renderPlan(fresh, comparisonRules);
  });
  const againMs = timed(() => renderPlan(settled, comparisonRules));
  if (plan === undefined || kept === undefined || !plan.ok || !kept.ok) throw new Error(`round ${round}: ${JSON.stringify(plan?.notes)}`);
  const unlike = objectsIn(kept).filter(({ action }) => action !== 'UNCHANGED');
  if (unlike.length > 0) throw new Error(`round ${round}: ${unlike.length} objects are not as they were written`);
  const manifests = objectsIn(plan).map(({ desired }) => desired);
  let bytes = 0;
  const stringifyMs = timed(() => {
    for (const manifest of manifests) bytes += JSON.stringify(manifest).length;
  });
  return { newMs, settledMs, againMs, stringifyMs, bytes };
}

/** Returns the snapshot after the plan was written: each object exists as a server returns it, and the inventory lists it. */
function settledAs(plan: RenderedPlan): PlanSnapshot {
  const byCluster = new Map(plan.clusters.map(({ chosen, objects }) => [chosen.cluster as string, objects]));
  return snapshotIn((name) => {
    const copies = (byCluster.get(name) ?? []).map((object, index) => {
      const live = served(object.desired, `${name}-${index}`);
      return { live, entry: entryOf(object, live) };
    });
    return { live: copies.map(({ live }) => live), entries: copies.map(({ entry }) => entry) };
  });
}

function served(manifest: KubernetesObject, uid: string): KubernetesObject {
  const read = JSON.parse(JSON.stringify(manifest)) as KubernetesObject;
  const given = { uid, resourceVersion: '7', generation: 1, creationTimestamp: '2026-11-21T08:00:00Z' };
  return { ...read, metadata: { ...read.metadata, ...given }, status: { observedGeneration: 1 } };
}

function entryOf(
  { key, desired, desiredHash }: RenderedPlan['clusters'][number]['objects'][number],
  live: KubernetesObject,
): InventoryEntry {
  const { uid } = live.metadata;
  return {
    key,
    state: 'Owned',
    ...(uid === undefined ? {} : { uid }),
    appliedHash: desiredHash,
    observedHash: observedHashOf({ key, desired }, live, comparisonRules),
    health: 'Healthy',
  };
}

function snapshotIn(factsOf: (name: string) => ClusterFacts): PlanSnapshot {
  const clusters = names.map((name, index): [string, ClusterFacts] => {
    const facts = { labels: { tier: index % 10 === 0 ? 'canary' : 'production' }, provider: 'aws', region: regions[index % 3] ?? '' };
    return [name, { ...factsOf(name), facts }];
  });
  return snapshotOf({
    template: shopTemplate,
    spec: {
      placement: { selector: { matchExpressions: [{ key: 'tier', operator: 'In', values: ['canary', 'production'] }] } },
      replicas: {
        mode: 'Divided',
        total: 1_000,
        rules: [
          { set: canaries, weight: 2, max: 20 },
          { weight: 1, min: 1 },
        ],
      },
      overrides: shopOverrides,
      rollout: { waves: [{ name: 'canary', set: canaries }], maxConcurrency: '20%' },
    },
    clusters: Object.fromEntries(clusters),
  });
}

function objectsIn(plan: RenderedPlan) {
  return plan.clusters.flatMap(({ objects }) => objects);
}

function timed(work: () => unknown): number {
  const start = cpuNow();
  work();
  return cpuSince(start).main;
}
