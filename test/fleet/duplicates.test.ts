import { expect, test } from 'vitest';
import { type ClusterName, clusterName } from '../../src/core/names.ts';
import type { ClusterCandidate } from '../../src/fleet/cluster-source.ts';
import { isAlone, planMembers } from '../../src/fleet/duplicates.ts';

/** A candidate that counts how often its address is read. */
function candidate(name: string, server: string, asked: { times: number }): ClusterCandidate {
  const endpoint = {
    name: clusterName(name),
    get server() {
      asked.times += 1;
      return server;
    },
    trust: { type: 'system' },
    credentials: { type: 'none' },
    compression: 'auto',
  } as const;
  return {
    result: 'usable',
    name: clusterName(name),
    endpoint,
    settings: { labels: {}, namespaces: [], secrets: 'none', authorization: 'sar' },
  };
}

const seatsOf = (candidates: readonly ClusterCandidate[], uids: Readonly<Record<string, string>>) =>
  planMembers(candidates, new Map(Object.entries(uids).map(([name, uid]) => [clusterName(name), uid]))).map(
    ({ candidate: { name }, duplicates, twins }) => [name, ...duplicates, ...twins.map((twin) => `twin ${twin}`)],
  );

test('one address is one cluster unless its uids differ; one uid at two addresses is two clusters that are twins', () => {
  const asked = { times: 0 };
  const [a, b, c] = [candidate('a', 'https://one', asked), candidate('b', 'https://one', asked), candidate('c', 'https://two', asked)];

  expect(seatsOf([a, b, c], {})).toEqual([['a', 'b'], ['c']]);
  expect(seatsOf([a, b, c], { a: '1', b: '2' })).toEqual([['a'], ['b'], ['c']]);
  expect(seatsOf([a, b, c], { a: '1', b: '1' })).toEqual([['a', 'b'], ['c']]);
  expect(seatsOf([a, b, c], { a: '1', c: '1' })).toEqual([
    ['a', 'b', 'twin c'],
    ['c', 'twin a'],
  ]);
  expect(seatsOf([a, b, c], { b: '2', c: '2' })).toEqual([['a', 'b'], ['c']]);
  expect(seatsOf([c, b, a], { a: '2', c: '2' })).toEqual([['c'], ['b', 'a']]);
});

test('a registered or found cluster is the same as an earlier one with its uid, at any address', () => {
  const asked = { times: 0 };
  const [a, b] = [candidate('a', 'https://one', asked), { ...candidate('b', 'https://two', asked), found: 'listed' } as const];

  expect(seatsOf([a, b], { a: '1' })).toEqual([['a'], ['b']]);
  expect(seatsOf([a, b], { a: '1', b: '1' })).toEqual([['a', 'b']]);
  expect(seatsOf([b], { b: '1' })).toEqual([['b']]);
});

test('a listed cluster that has not answered keeps no later cluster of its address out of the fleet', () => {
  const asked = { times: 0 };
  const listed = (name: string) => ({ ...candidate(name, 'https://one', asked), found: 'listed' }) as const;
  const [junk, prod] = [listed('junk'), listed('prod')];

  expect(seatsOf([junk, prod], {})).toEqual([['junk'], ['prod']]);
  expect(seatsOf([junk, prod], { prod: '1' })).toEqual([['junk'], ['prod']]);
  expect(seatsOf([junk, prod], { junk: '1', prod: '1' })).toEqual([['junk', 'prod']]);
  expect(seatsOf([candidate('own', 'https://one', asked), prod], {})).toEqual([['own', 'prod']]);
});

test('prints each candidate once, however many there are and however often the members are planned', () => {
  const asked = { times: 0 };
  const candidates = Array.from({ length: 300 }, (_, index) => candidate(`c-${index}`, `https://server-${index}`, asked));

  for (let known = 0; known < 20; known += 1) seatsOf(candidates, Object.fromEntries([[`c-${known}`, `uid-${known}`]]));

  expect(asked.times).toBe(300);
});

test('a candidate that was described again is alone, although its former description is another object', () => {
  const [former, now, other] = ['https://one', 'https://one', 'https://two'].map((server, index) =>
    candidate(index === 2 ? 'b' : 'a', server, { times: 0 }),
  ) as [ClusterCandidate, ClusterCandidate, ClusterCandidate];

  expect(isAlone(former, { uid: '1', candidates: [now, other], uids: new Map() })).toBe(true);
  expect(isAlone(former, { uid: '1', candidates: [now, other], uids: new Map([[other.name, '1']]) })).toBe(false);
});

test('the uid of a candidate that is alone does not change the plan, in 2,000 random fleets', () => {
  let seed = 1;
  const pick = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  let alone = 0;
  for (let fleet = 0; fleet < 2_000; fleet += 1) {
    const candidates = Array.from({ length: 2 + pick(4) }, (_, index): ClusterCandidate => {
      const found = ([{}, { found: 'registered' }, { found: 'listed' }] as const)[pick(3)];
      return { ...candidate(`c-${index}`, `https://server-${pick(8)}`, { times: 0 }), ...found };
    });
    const uids = Object.fromEntries(candidates.slice(1).flatMap(({ name }) => (pick(2) === 0 ? [] : [[name, `uid-${pick(4)}`]])));
    const [first] = candidates;
    const uid = `uid-${pick(4)}`;
    if (first === undefined || !isAlone(first, { uid, candidates, uids: new Map(Object.entries(uids) as [ClusterName, string][]) }))
      continue;
    alone += 1;
    expect(seatsOf(candidates, { ...uids, 'c-0': uid })).toEqual(seatsOf(candidates, uids));
  }
  expect(alone).toBeGreaterThan(200);
});
