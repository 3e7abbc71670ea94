// Groups pods by node with the sum of their requests, and does the same with one hand-written loop.
//   groups.ts PODS
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../../src/core/clock.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { parseResourceVersion } from '../../../src/core/names.ts';
import { isKubernetesObject, type KubernetesObject } from '../../../src/core/objects.ts';
import { parseModel } from '../../../src/model/model-document.ts';
import { createStore } from '../../../src/store/contents/store.ts';
import { compileGroups, compileSums, runQuery } from '../../support/store/store-at-once.ts';
import { podOf } from '../pods.ts';
import { cpuNow, cpuSince, finish } from '../support/measuring.ts';

const count = Number(process.argv[2] ?? '50000');
const rounds = 20;

const model = parseModel(JSON.parse(readFileSync(path.join(import.meta.dirname, '../../../schema/kubernetes.json'), 'utf8')) as JsonObject);
const kind = model.kinds.get('Pod');
if (kind === undefined) throw new Error('no Pod in the model');
const store = createStore({ epoch: 'bench', clock: systemClock });
const stage = store.replace();
for (let index = 0; index < count; index += 1) {
  const pod = parsed(index);
  stage.add(pod, () => pod);
}
stage.commit(parseResourceVersion('1'));
const cluster = { name: 'bench', labels: {}, phase: 'SYNCED' };
const source = { cluster, kind, apiVersion: 'v1', store, visibility: { type: 'all' } } as const;
const asked = { model, kinds: [kind] };

const sums = grouped();
const looped = loop();
if (sums !== looped) throw new Error(`expected ${looped} groups, got ${sums}`);
finish({ held: store.size, oursMs: perRun(grouped), loopMs: perRun(loop) });

/** Groups like a list field with the selection `groups { keys sum }`. */
function grouped(): number {
  const { matches } = runQuery([source], { first: 100, keepMatches: true });
  const { groups, members } = compileGroups(asked, { by: ['spec.nodeName'], order: 'COUNT_DESC', first: 500 })(matches);
  const sums = compileSums(asked, 'spec.containers.resources.requests.cpu')(members);
  return groups.filter((_, group) => sums[group] !== undefined).length;
}

interface PodShape {
  readonly spec: {
    readonly nodeName: string;
    readonly containers: readonly { readonly resources: { readonly requests: { readonly cpu: string } } }[];
  };
}

/** The floor: a loop without checks, without exact sums and without paths. */
function loop(): number {
  const nodes = new Map<string, { count: number; cpu: number }>();
  for (const object of store.objects()) {
    const { spec } = object as unknown as PodShape;
    const node = nodes.get(spec.nodeName) ?? { count: 0, cpu: 0 };
    nodes.set(spec.nodeName, node);
    node.count += 1;
    for (const { resources } of spec.containers) node.cpu += Number.parseInt(resources.requests.cpu, 10);
  }
  return [...nodes.values()].filter(({ cpu }) => cpu > 0).length;
}

function perRun(run: () => number): number {
  for (let round = 0; round < 5; round += 1) run();
  const start = cpuNow();
  for (let round = 0; round < rounds; round += 1) run();
  return cpuSince(start).main / rounds;
}

function parsed(index: number): KubernetesObject {
  const pod = JSON.parse(JSON.stringify(podOf(index, { revision: 0, version: String(index + 1) }))) as JsonObject;
  if (!isKubernetesObject(pod)) throw new Error('no object');
  return pod;
}
