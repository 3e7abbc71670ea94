// Measures the cost of the store alone, without transport: node --expose-gc test/bench/store-hold.ts [pods]
// Prints held bytes per pod, µs per pod for parsing and for storing, and ms for typical queries. Targets are tested by `npm run bench`
// only.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../src/core/clock.ts';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { parseResourceVersion } from '../../src/core/names.ts';
import { identityOf, isKubernetesObject, type KubernetesObject } from '../../src/core/objects.ts';
import { parseLabelSelector } from '../../src/core/selectors.ts';
import type { ModelKind } from '../../src/model/model.ts';
import { parseModel } from '../../src/model/model-document.ts';
import { createStore } from '../../src/store/contents/store.ts';
import { compileWhere } from '../../src/store/filter/where.ts';
import { compileOrder } from '../../src/store/query/order.ts';
import type { QuerySpec } from '../../src/store/query/query.ts';
import type { QuerySource } from '../../src/store/query-source.ts';
import { runQuery } from '../support/store/store-at-once.ts';
import { podOf } from './pods.ts';

const count = Number(process.argv[2] ?? '20000');
const collect = globalThis.gc;
if (collect === undefined) throw new Error('expected --expose-gc');

/** Lines as the transport passes them on: the bytes of one pod each, without managedFields. */
const lines = (revision: number): readonly Buffer[] =>
  Array.from({ length: count }, (_, index) =>
    Buffer.from(cut(podOf(index, { revision, version: String(1_000_000 + index + revision * 100_000_000) }))),
  );

const first = lines(0);
const second = lines(1);
const text = first.reduce((sum, line) => sum + line.length, 0) / count;

// Warm-up: the first run also pays for compiling.
keepParsed();
holdInStore();
const kept = keepParsed();
const without = heldBytes();
const { store, ...held } = holdInStore();

print('JSON per pod, managedFields cut', text, 'B');
print('parse and keep', kept.bytes, 'B per pod');
print('parse, share and hold', held.bytes, 'B per pod');
print('as the store reckons', store.bytes / count, 'B per pod');
print('parse and keep', kept.us, 'µs per pod');
print('parse, share and hold', held.us, 'µs per pod');
print('commit of the whole list', held.commitMs, 'ms');
print('update: parse, share and hold', (timed(updateAll) * 1_000) / count, 'µs per pod');
print('held after each pod was updated', (heldBytes() - without) / count, 'B per pod');
print('as the store reckons', store.bytes / count, 'B per pod');
print('relist, nothing changed: keep and commit', (timed(keepAll) * 1_000) / count, 'µs per pod');
askAll();

function keepParsed(): { readonly bytes: number; readonly us: number } {
  const before = heldBytes();
  const pods: unknown[] = [];
  const ms = timed(() => {
    for (const line of first) pods.push(JSON.parse(line.toString('utf8')));
  });
  const bytes = heldBytes() - before;
  return { bytes: bytes / pods.length, us: (ms * 1_000) / count };
}

function holdInStore() {
  const before = heldBytes();
  const mirror = createStore({ epoch: 'bench', clock: systemClock });
  const stage = mirror.replace();
  const ms = timed(() => {
    for (const line of first) stage.add(parse(line), () => parse(line));
  });
  const commitMs = timed(() => stage.commit(parseResourceVersion('900000000')));
  return { bytes: (heldBytes() - before) / count, us: (ms * 1_000) / count, commitMs, store: mirror };
}

function updateAll(): void {
  for (const line of second) {
    const object = parse(line);
    store.applied(object, parseResourceVersion(object.metadata.resourceVersion), () => parse(line));
  }
}

function keepAll(): void {
  const stage = store.replace();
  for (const object of store.objects()) if (!stage.keep(identityOf(object))) throw new Error('expected to keep it');
  stage.commit(parseResourceVersion('2000000000'));
}

function askAll(): void {
  const model = parseModel(JSON.parse(readFileSync(path.join(import.meta.dirname, '../../schema/kubernetes.json'), 'utf8')));
  const kind = model.kinds.get('Pod');
  if (kind === undefined) throw new Error('no Pod in the model');
  const cluster = { name: 'bench', labels: {}, phase: 'SYNCED' };
  const source: QuerySource = { cluster, kind, apiVersion: 'v1', store, visibility: { type: 'all' } };
  const kinds: readonly ModelKind[] = [kind];
  const questions: Readonly<Record<string, Partial<QuerySpec>>> = {
    'page of 100, default order': {},
    'page of 100 in one namespace': { namespaces: ['team-7'] },
    labels: { selector: parseLabelSelector('app=service-77') },
    'labels and a path': {
      selector: parseLabelSelector('tier=frontend'),
      where: compileWhere(model, kinds, { path: 'status.phase', eq: 'Running' }),
    },
    'a path': { where: compileWhere(model, kinds, { path: 'spec.containers.image', startsWith: 'registry.example.com/service-9' }) },
    'some with a quantity': {
      where: compileWhere(model, kinds, { path: 'spec.containers', some: { path: 'resources.requests.cpu', gt: '0.2' } }),
    },
    search: { search: 'service-99' },
    'sorted by time': { order: compileOrder(model, kinds, [{ path: 'metadata.creationTimestamp', direction: 'DESC' }]) },
    'sorted by a quantity in lists': { order: compileOrder(model, kinds, [{ path: 'spec.containers.resources.requests.memory' }]) },
  };
  for (const [name, spec] of Object.entries(questions)) {
    const firstMs = timed(() => runQuery([source], { first: 100, ...spec }));
    const runs = Array.from({ length: 9 }, () => timed(() => runQuery([source], { first: 100, ...spec })));
    const result = runQuery([source], { first: 100, ...spec });
    print(
      `${name}: ${result.totalCount} found, first ${firstMs.toFixed(1)} ms, then`,
      runs.toSorted((a, b) => a - b)[4] ?? Number.NaN,
      'ms',
    );
  }
}

function cut(pod: object): string {
  const { metadata, ...others } = pod as { metadata: JsonObject };
  const { managedFields: _, ...kept } = metadata;
  return JSON.stringify({ metadata: kept, ...others });
}

function parse(line: Buffer): KubernetesObject {
  const value = JSON.parse(line.toString('utf8')) as Json;
  if (!isKubernetesObject(value)) throw new Error('no object');
  return value;
}

function heldBytes(): number {
  collect?.();
  collect?.();
  return process.memoryUsage().heapUsed;
}

/** Measures main-thread CPU in ms. Other processes and the garbage collector's threads do not count. */
function timed(action: () => void): number {
  const start = process.threadCpuUsage();
  action();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1_000;
}

function print(what: string, value: number, unit: string): void {
  console.log(`${what.padEnd(80)} ${value.toFixed(2).padStart(10)} ${unit}`);
}
