// Measures selections that an index answers. Of HELD objects, 1,000 match each selection.
//   selections.ts HELD
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../../src/core/clock.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { parseResourceVersion } from '../../../src/core/names.ts';
import { isKubernetesObject, type KubernetesObject } from '../../../src/core/objects.ts';
import { parseLabelSelector } from '../../../src/core/selectors.ts';
import { parseModel } from '../../../src/model/model-document.ts';
import { createStore } from '../../../src/store/contents/store.ts';
import { compileWhere } from '../../../src/store/filter/where.ts';
import type { QuerySpec } from '../../../src/store/query/query.ts';
import type { QuerySource } from '../../../src/store/query-source.ts';
import { runQuery } from '../../support/store/store-at-once.ts';
import { cpuNow, cpuSince, finish } from '../support/measuring.ts';

const held = Number(process.argv[2] ?? '10000');
const matched = 1_000;
/** Number of families (groups of 1,000 matching objects) that are queried in turn. It is fixed, so the work does not depend on HELD. */
const familyCount = 10;
const rounds = 2_000;

const model = parseModel(JSON.parse(readFileSync(path.join(import.meta.dirname, '../../../schema/kubernetes.json'), 'utf8')) as JsonObject);
const kind = model.kinds.get('ConfigMap');
if (kind === undefined) throw new Error('no ConfigMap in the model');
const store = createStore({ epoch: 'bench', clock: systemClock });
fill();
const cluster = { name: 'bench', labels: {}, phase: 'SYNCED' };
const source: QuerySource = { cluster, kind, apiVersion: 'v1', store, visibility: { type: 'all' } };
const restricted: QuerySource = { ...source, visibility: { type: 'namespaces', namespaces: new Set(['namespace-1']) } };

finish({
  held: store.size,
  rssMb: process.memoryUsage().rss / 2 ** 20,
  namespaceUs: perQuery((family) => ({ namespaces: [`namespace-${family}`] })),
  labelUs: perQuery((family) => ({ selector: parseLabelSelector(`app=app-${family}`) })),
  ownerUs: perQuery((family) => ({ where: compileWhere(model, [kind], { path: 'metadata.ownerReferences.uid', eq: `owner-${family}` }) })),
  commonLabelUs: perQuery((family) => ({ namespaces: [`namespace-${family}`], selector: parseLabelSelector('tier=web') })),
  hiddenLabelUs: perQuery(() => ({ selector: parseLabelSelector('tier=web') }), { from: restricted }),
  countUs: perQuery(() => ({ first: 1 }), { expected: held }),
});

/** Fills the store. Families overlap: the 1,000 objects of a label or of an owner are spread over all namespaces. */
function fill(): void {
  const families = held / matched;
  const stage = store.replace();
  for (let index = 0; index < held; index += 1) {
    const object = objectOf(index, { namespace: Math.floor(index / matched), family: index % families });
    stage.add(object, () => object);
  }
  stage.commit(parseResourceVersion('1'));
}

function objectOf(index: number, { namespace, family }: { readonly namespace: number; readonly family: number }): KubernetesObject {
  const owner = `{"apiVersion":"v1","kind":"Owner","name":"o","uid":"owner-${family}"}`;
  const object: unknown = JSON.parse(
    `{"metadata":{"name":"object-${index}","namespace":"namespace-${namespace}","labels":{"app":"app-${family}","tier":"web"},"ownerReferences":[${owner}]}}`,
  );
  if (!isKubernetesObject(object as JsonObject)) throw new Error('no object');
  return object as KubernetesObject;
}

/**
 * Measures main-thread CPU in µs for a page of 100. The first query of each family builds what later ones reuse: the index and the order of
 * a namespace.
 */
function perQuery(
  specOf: (family: number) => Partial<QuerySpec>,
  { expected = matched, from = source }: { readonly expected?: number; readonly from?: QuerySource } = {},
): number {
  const specs = Array.from({ length: familyCount }, (_, family) => ({ first: 100, ...specOf(family) }));
  for (const spec of specs) {
    const { totalCount } = runQuery([from], spec);
    if (totalCount !== expected) throw new Error(`expected ${expected} to match, got ${totalCount}`);
  }
  const ask = (times: number) => {
    for (let round = 0; round < times; round += 1) for (const spec of specs) runQuery([from], spec);
  };
  // Warm-up: the code is compiled before the selections are timed.
  ask(rounds / 4);
  const start = cpuNow();
  ask(rounds);
  return (cpuSince(start).main * 1_000) / (rounds * familyCount);
}
