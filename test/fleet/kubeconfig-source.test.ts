import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Kubeconfig } from '../../src/cluster/kubeconfig/kubeconfig.ts';
import { systemClock } from '../../src/core/clock.ts';
import { MusterError } from '../../src/core/errors.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import type { ClusterCandidate } from '../../src/fleet/cluster-source.ts';
import { type KubeconfigSourceOptions, openKubeconfigSource } from '../../src/fleet/kubeconfig-source.ts';
import { contextOf, kubeconfigWith } from '../support/cluster/endpoints.ts';
import { createManualClock } from '../support/manual-clock.ts';

let folder: string;
let ending: AbortController;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-fleet-'));
  ending = new AbortController();
});
afterEach(async () => {
  ending.abort();
  await rm(folder, { recursive: true, force: true });
});

const open = (kubeconfig: Kubeconfig | undefined, more: Partial<KubeconfigSourceOptions> = {}) =>
  openKubeconfigSource({
    load: async () => kubeconfig,
    contexts: [],
    clusters: async () => [],
    secrets: 'live',
    clock: systemClock,
    log: silentLog,
    ...more,
  });

async function firstOf(opening: ReturnType<typeof open>): Promise<readonly ClusterCandidate[]> {
  const source = await opening;
  for await (const { candidates } of source?.watch(ending.signal) ?? []) return candidates;
  return [];
}

const named = (name: string, more: object = {}) =>
  ({ name, insecure: false, labels: {}, namespaces: [], secrets: 'live', authorization: 'sar', ...more }) as const;
const namesOf = (candidates: readonly ClusterCandidate[]) => candidates.map(({ name }) => name);
const problem = (promise: Promise<unknown>) =>
  promise.then(
    () => 'accepted',
    (error: MusterError) => `${error.code}: ${error.message}`,
  );

test('makes a cluster of each context, by its name, the current one first', async () => {
  const kubeconfig = kubeconfigWith([contextOf('north'), contextOf('south', { namespace: 'shop' }), contextOf('east')], {
    currentContext: 'south',
  });
  const candidates = await firstOf(open(kubeconfig));
  expect(namesOf(candidates)).toEqual(['south', 'north', 'east']);
  expect(candidates[0]?.settings).toEqual({ labels: {}, namespaces: ['shop'], secrets: 'live', authorization: 'sar' });
});

test('takes named contexts in the order of their flags, and no others', async () => {
  const kubeconfig = kubeconfigWith([contextOf('north'), contextOf('south'), contextOf('east')], { currentContext: 'south' });
  expect(namesOf(await firstOf(open(kubeconfig, { contexts: ['east', 'north', 'east'] })))).toEqual(['east', 'north']);
});

test('takes only the clusters of the config file, with their settings', async () => {
  const usual = kubeconfigWith([contextOf('kind-a'), contextOf('kind-b', { namespace: 'shop' })], { currentContext: 'kind-b' });
  const other = kubeconfigWith([contextOf('prod')], { currentContext: 'prod', paths: ['/etc/prod'] });
  const load = async (file: string | undefined) => (file === undefined ? usual : other);
  const clusters = async () => [
    named('a', { context: 'kind-a', region: 'eu-1', labels: { tier: 'dev' } }),
    named('b', { namespaces: ['web'], insecure: true }),
    named('prod', { kubeconfig: '/etc/prod', secrets: 'none' }),
  ];
  const candidates = await firstOf(open(undefined, { load, clusters }));
  expect(namesOf(candidates)).toEqual(['a', 'b', 'prod']);
  expect(candidates.map((candidate) => (candidate.result === 'usable' ? candidate.endpoint.server : ''))).toEqual([
    'https://kind-a.test:6443',
    'https://kind-b.test:6443',
    'https://prod.test:6443',
  ]);
  expect(candidates[0]?.settings).toEqual({
    region: 'eu-1',
    labels: { tier: 'dev' },
    namespaces: [],
    secrets: 'live',
    authorization: 'sar',
  });
  expect(candidates[1]).toMatchObject({
    endpoint: { name: 'b', trust: { type: 'unverified' } },
    settings: { namespaces: ['web', 'shop'] },
  });
  expect(namesOf(await firstOf(open(undefined, { load, clusters, contexts: ['prod', 'kind-a'] })))).toEqual(['prod', 'a']);
});

test('gives undefined if nothing was named and nothing was found', async () => {
  expect(await open(undefined)).toBeUndefined();
  expect(await open(kubeconfigWith([]))).toBeUndefined();
});

test('a broken context among others is a candidate with its problem', async () => {
  const candidates = await firstOf(open(kubeconfigWith([contextOf('north'), contextOf('odd', { problem: 'no user "x"' })])));
  expect(candidates[1]).toMatchObject({ result: 'broken', name: 'odd', problem: { message: 'no user "x"' } });
});

test.each([
  ['a\nb', 'a?b (invalid name)'],
  ['', '? (invalid name)'],
  ['x'.repeat(300), `${'x'.repeat(80)} (invalid name)`],
])('a context whose name is invalid (%j) is the only invalid one', async (name, shown) => {
  const problem = 'expected a name of 1 to 253 characters without control characters';
  const invalid = { ...contextOf('odd', { problem }), name };
  const candidates = await firstOf(open(kubeconfigWith([invalid, contextOf('north')])));
  expect(candidates).toMatchObject([
    { result: 'broken', name: shown, problem: { message: problem } },
    { result: 'usable', name: 'north' },
  ]);
});

test.each([
  [
    'an unknown context',
    kubeconfigWith([contextOf('north'), contextOf('south')]),
    { contexts: ['nroth'] },
    'BAD_INPUT: no context "nroth" in the kubeconfig; did you mean "north"?',
  ],
  [
    'a context without any kubeconfig',
    undefined,
    { contexts: ['north'] },
    'BAD_INPUT: no kubeconfig found for the context "north": expected --kubeconfig',
  ],
  [
    'a named kubeconfig without contexts',
    kubeconfigWith([], { origin: 'named' }),
    {},
    'BAD_INPUT: the kubeconfig /home/.kube/config has no contexts',
  ],
  [
    'a named context that is broken',
    kubeconfigWith([contextOf('north'), contextOf('odd', { problem: 'no user "x"' })]),
    { contexts: ['odd'] },
    'BAD_INPUT: no user "x"',
  ],
  ['contexts that are all broken', kubeconfigWith([contextOf('odd', { problem: 'no user "x"' })]), {}, 'BAD_INPUT: no user "x"'],
  [
    'a cluster with an unknown context',
    kubeconfigWith([contextOf('north')]),
    { clusters: async () => [named('a', { context: 'zzz' })] },
    'BAD_INPUT: cluster a: no context "zzz" in the kubeconfig; expected one of "north"',
  ],
  [
    'a cluster without context',
    kubeconfigWith([contextOf('north')]),
    { clusters: async () => [named('a')] },
    'BAD_INPUT: cluster a: expected a context, as /home/.kube/config has no current one',
  ],
] satisfies [string, Kubeconfig | undefined, Partial<KubeconfigSourceOptions>, string][])(
  'refuses %s',
  async (_, kubeconfig, more, message) => {
    expect(await problem(open(kubeconfig, more))).toContain(message);
  },
);

/** Follows a kubeconfig file of the test: one line per context, `!` for an unreadable file. */
async function followFile(file: string, more: Partial<KubeconfigSourceOptions> = {}) {
  const load = async () => {
    const text = await readFile(file, 'utf8').catch(() => '!');
    if (text.startsWith('!')) throw new MusterError('BAD_INPUT', 'not a kubeconfig');
    return kubeconfigWith(
      text
        .trim()
        .split(/\s+/)
        .map((name) => contextOf(name)),
      { paths: [file] },
    );
  };
  const source = await open(undefined, { load, ...more });
  const seen: string[] = [];
  let wake = () => {};
  const follow = async () => {
    for await (const { candidates } of source?.watch(ending.signal) ?? []) {
      seen.push(namesOf(candidates).join(' '));
      wake();
    }
  };
  return {
    seen,
    done: follow(),
    /** Resolves at the wanted set. Equal sets may come before it. */
    until: async (wanted: string) => {
      while (seen.at(-1) !== wanted) await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}

test('follows a file that is written, replaced by a rename, deleted and made again', async () => {
  const file = path.join(folder, 'config');
  const clock = createManualClock();
  await writeFile(file, 'north');
  const { seen } = await followFile(file, { clock });
  await looking(clock, () => seen.length === 2);
  await writeFile(file, 'north south');
  await looking(clock, () => seen.at(-1) === 'north south');
  await writeFile(`${file}.new`, 'south east');
  await rename(`${file}.new`, file);
  await looking(clock, () => seen.at(-1) === 'south east');
  await rm(file);
  await writeFile(file, 'west');
  await looking(clock, () => seen.at(-1) === 'west');
});

test('follows a file behind symbolic links, such as a mounted Secret', async () => {
  const clock = createManualClock();
  for (const [version, name] of Object.entries({ '..1': 'north', '..2': 'south' })) {
    await mkdir(path.join(folder, version));
    await writeFile(path.join(folder, version, 'config'), name);
  }
  await symlink('..1', path.join(folder, '..data'));
  await symlink('..data/config', path.join(folder, 'config'));
  const { seen } = await followFile(path.join(folder, 'config'), { clock });
  await looking(clock, () => seen.at(-1) === 'north');
  await symlink('..2', path.join(folder, '..next'));
  await rename(path.join(folder, '..next'), path.join(folder, '..data'));
  await looking(clock, () => seen.at(-1) === 'south');
});

test.each(['config', '..data/config'])('notices a change of %s at once, without waiting for the next poll', async (changed) => {
  const clock = createManualClock();
  await mkdir(path.join(folder, '..data'));
  await writeFile(path.join(folder, '..data/config'), 'north');
  if (changed === 'config') await writeFile(path.join(folder, 'config'), 'north');
  else await symlink('..data/config', path.join(folder, 'config'));
  const { seen } = await followFile(path.join(folder, 'config'), { clock });
  await looking(clock, () => seen.length === 2);
  const before = clock.monotonic();
  // The source watches the file before it sleeps until the next poll.
  await vi.waitUntil(() => clock.nextDueMs === before + 5_000, { timeout: 20_000 });
  await writeFile(path.join(folder, changed), 'south');
  await vi.waitUntil(() => (clock.nextDueMs ?? Number.POSITIVE_INFINITY) <= before + 50, { timeout: 20_000 });
  await clock.advance(50);
  await vi.waitUntil(() => seen.at(-1) === 'south', { timeout: 20_000 });
  expect(clock.monotonic()).toBe(before + 50);
});

test('keeps the last good state while a file is broken, and logs that once', async () => {
  const file = path.join(folder, 'config');
  const lines: string[] = [];
  const log: Log = { ...silentLog, warn: (_, message) => lines.push(message), info: (_, message) => lines.push(message) };
  let reads = 0;
  await writeFile(file, 'north');
  const clock = createManualClock();
  const clusters = async () => {
    reads++;
    return [];
  };
  const { seen } = await followFile(file, { clock, log, clusters });
  for (const text of ['!', '!!']) {
    const before = reads;
    await writeFile(file, text);
    await looking(clock, () => reads > before);
  }
  await rm(file);
  await looking(clock, () => reads >= 4);
  await writeFile(file, 'north south');
  await looking(clock, () => seen.at(-1) === 'north south');
  expect(lines).toEqual(['the kubeconfig has become unreadable: its clusters stay as they were', 'the kubeconfig can be read again']);
  expect(seen.slice(0, -1).every((set) => set === 'north')).toBe(true);
});

/** Polls until the change is noticed, because file operations take real time, whatever the clock says. */
async function looking(clock: ReturnType<typeof createManualClock>, isSeen: () => boolean): Promise<void> {
  await vi.waitUntil(
    async () => {
      await clock.advance(5_000);
      return isSeen();
    },
    { timeout: 20_000, interval: 5 },
  );
}

test('ends with its signal, also while it waits', async () => {
  const file = path.join(folder, 'config');
  await writeFile(file, 'north');
  const clock = createManualClock();
  const { until, done } = await followFile(file, { clock });
  await until('north');
  await vi.waitUntil(() => clock.sleepers === 1, { timeout: 20_000, interval: 5 });
  ending.abort();
  await done;
  expect(clock.sleepers).toBe(0);
});
