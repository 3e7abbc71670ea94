import { afterEach, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import type { ServedResource } from '../../../src/core/kinds.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createKindDescriptions } from '../../../src/load/catalog/kind-descriptions.ts';
import { createFakeMirrors } from '../../support/graph/fake-mirrors.ts';
import { definitionsServed, loadBaseline, servedAs } from '../../support/kubernetes-objects.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const baseline = loadBaseline();
const builtIns = [servedAs(baseline, 'Pod'), servedAs(baseline, 'Job.batch')];
const ending: AbortController[] = [];
afterEach(() => {
  for (const controller of ending.splice(0)) controller.abort();
});

/** A cluster whose descriptions contain its name. */
interface Speaking {
  readonly hash?: string;
  readonly silent?: readonly string[];
  /** Paths whose answer is JSON but not OpenAPI. */
  readonly garbled?: readonly string[];
}

function documentOf({ group, version, kind }: ServedResource, words: string): Json {
  const schema = { description: `${words}.`, 'x-kubernetes-group-version-kind': [{ group, version, kind }] };
  return { components: { schemas: { [`io.k8s.api.${kind}`]: schema } } };
}

function start() {
  const clock = createManualClock();
  const mirrors = createFakeMirrors(clock);
  const controller = new AbortController();
  ending.push(controller);
  const speaking = new Map<string, Speaking>();
  const asked: string[] = [];
  const fetchDocument = async (cluster: string, path: readonly string[]): Promise<Json | undefined> => {
    const place = path.join('/');
    asked.push(`${cluster}:${place}`);
    const words = speaking.get(cluster);
    if (words === undefined || words.silent?.includes(place)) return undefined;
    if (words.garbled?.includes(place)) return { kind: 'Status' };
    const addresses = ['api/v1', 'apis/batch/v1', 'apis/custom.io/v1'].map((one) => [
      one,
      { serverRelativeURL: `/openapi/v3/${one}?hash=${words.hash}` },
    ]);
    if (place === '') return { paths: Object.fromEntries(addresses) };
    const resource = builtIns.find(({ group }) => place === (group === '' ? 'api/v1' : `apis/${group}/v1`));
    return resource && documentOf(resource, `As ${cluster} says`);
  };
  let described = 0;
  const onDescribed = () => described++;
  const descriptions = createKindDescriptions({ mirrors, baseline, fetchDocument, clock, log: silentLog, onDescribed }, controller.signal);
  const join = (name: string, version: string, words?: Speaking) => {
    if (words !== undefined) speaking.set(name, words);
    const cluster = mirrors.join(name, { version });
    cluster.discover(definitionsServed, ...builtIns);
    return cluster;
  };
  return {
    clock,
    controller,
    join,
    descriptions,
    speaking,
    /** Returns the requests since the last call. */
    asked: () => asked.splice(0),
    described: () => described,
    said: () => ['Pod', 'Job'].map((type) => descriptions.now().get(type)?.description),
  };
}

test('the built-in kinds are requested from the newest cluster, and all descriptions are reported at once', async () => {
  const { clock, join, descriptions, asked, described, said } = start();
  join('old', 'v1.33.13', { hash: 'a' });
  join('new', 'v1.36.3-eks-1', { hash: 'a' });
  join('older', 'v1.9.0', { hash: 'a' });
  await clock.advance(60_000);
  expect(asked()).toEqual([]);
  descriptions.begin();
  await clock.advance(2_999);
  expect(asked()).toEqual([]);
  await clock.advance(1);
  expect(asked()).toEqual(['new:', 'new:apis/batch/v1', 'new:api/v1']);
  expect(said()).toEqual(['As new says.', 'As new says.']);
  expect(described()).toBe(1);
});

test('a cluster without OpenAPI is skipped', async () => {
  const { clock, join, descriptions, asked, said } = start();
  join('mute', 'v1.36.3');
  join('old', 'v1.33.0', { hash: 'a' });
  descriptions.begin();
  await clock.advance(3_000);
  expect(asked()[0]).toBe('mute:');
  expect(said()).toEqual(['As old says.', 'As old says.']);
});

test('only a newer release causes requests again, and only for documents with another hash', async () => {
  const { clock, join, descriptions, asked, said, described } = start();
  const first = join('first', 'v1.33.0', { hash: 'a' });
  descriptions.begin();
  await clock.advance(3_000);
  asked();
  join('second', 'v1.33.0', { hash: 'b' });
  join('third', 'v1.32.0', { hash: 'b' });
  first.leave();
  await clock.advance(60_000);
  expect(asked()).toEqual([]);
  expect(said(), 'what was said stays').toEqual(['As first says.', 'As first says.']);
  join('same', 'v1.35.0', { hash: 'a' });
  await clock.advance(60_000);
  expect([asked(), described()]).toEqual([['same:'], 1]);
  join('newest', 'v1.36.0', { hash: 'c' });
  await clock.advance(60_000);
  expect(asked()).toContain('newest:api/v1');
  expect(said()).toEqual(['As newest says.', 'As newest says.']);
});

test('only requests without an answer are repeated after ten minutes', async () => {
  const { clock, join, descriptions, asked, said, speaking } = start();
  join('north', 'v1.36.3', { hash: 'a', silent: ['apis/batch/v1'] });
  descriptions.begin();
  await clock.advance(3_000);
  expect(said()).toEqual(['As north says.', undefined]);
  asked();
  await clock.advance(590_000);
  expect(asked()).toEqual([]);
  speaking.set('north', { hash: 'a' });
  await clock.advance(20_000);
  expect(asked()).toEqual(['north:', 'north:apis/batch/v1']);
  expect(said()).toEqual(['As north says.', 'As north says.']);
  await clock.advance(3_600_000);
  expect(asked()).toEqual([]);
});

test('documents that the first cluster lacks are requested from others of its release', async () => {
  const { clock, join, descriptions, asked, said } = start();
  join('a', 'v1.36.3', { hash: 'b', silent: ['apis/batch/v1'], garbled: ['api/v1'] });
  join('b', 'v1.36.3');
  join('c', 'v1.36.3', { hash: 'b', silent: ['api/v1'] });
  join('d', 'v1.36.3', { hash: 'b' });
  join('e', 'v1.36.3', { hash: 'b' });
  descriptions.begin();
  await clock.advance(3_000);
  const ofFirst = ['a:', 'a:apis/batch/v1', 'a:api/v1'];
  expect(asked()).toEqual([...ofFirst, 'b:', 'c:', 'c:apis/batch/v1', 'c:api/v1', 'd:', 'd:api/v1']);
  expect(said()).toEqual(['As d says.', 'As c says.']);
  await clock.advance(3_600_000);
  expect(asked()).toEqual([]);
});

test('documents that the newest release lacks come from an older one, and never replace known ones', async () => {
  const { clock, join, descriptions, asked, said, speaking } = start();
  join('new', 'v1.36.3', { hash: 'a', silent: ['api/v1'] });
  join('old', 'v1.35.0', { hash: 'b' });
  join('older', 'v1.34.0', { hash: 'c' });
  descriptions.begin();
  await clock.advance(3_000);
  expect(asked()).toEqual(['new:', 'new:apis/batch/v1', 'new:api/v1', 'old:', 'old:api/v1']);
  expect(said()).toEqual(['As old says.', 'As new says.']);
  await clock.advance(610_000);
  expect(asked()).toEqual(['new:', 'new:api/v1']);
  speaking.set('new', { hash: 'a' });
  await clock.advance(610_000);
  expect(said()).toEqual(['As new says.', 'As new says.']);
  asked();
  await clock.advance(3_600_000);
  expect(asked()).toEqual([]);
});

test('the abort of the signal ends requests and timers', async () => {
  const { clock, join, descriptions, controller, asked, described } = start();
  join('north', 'v1.36.3', { hash: 'a' });
  descriptions.begin();
  controller.abort();
  await clock.advance(60_000);
  expect([asked(), described(), clock.sleepers]).toEqual([[], 0, 0]);
});
