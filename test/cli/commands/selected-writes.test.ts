import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { manifestFile, settings, standing } from '../../support/cli/intent-files.ts';
import { runCli } from '../../support/cli/run-cli.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

const labeled = (name: string, labels: Readonly<Record<string, string>>) => {
  const object = standing(name, { a: '1' });
  return { ...object, metadata: { ...object.metadata, labels } };
};

let gateway: TestGateway;
beforeEach(async () => {
  const objects = () => [labeled('dust-1', { sweep: 'yes' }), labeled('dust-2', { sweep: 'yes' }), labeled('kept', { sweep: 'no' })];
  gateway = await startGateway({ north: objects(), south: objects() });
});
afterEach(() => gateway[Symbol.asyncDispose]());

const run = (args: readonly string[], typed?: string, input = '') =>
  runCli(gateway, args, { input, ...(typed === undefined ? {} : { typed }) });
const names = (cluster: string) =>
  ['dust-1', 'dust-2', 'kept'].filter(
    (name) => gateway.cluster(cluster).get({ group: '', kind: 'ConfigMap' }, name, 'default') !== undefined,
  );
const metadataOf = (cluster: string, name: string) =>
  gateway.cluster(cluster).get({ group: '', kind: 'ConfigMap' }, name, 'default')?.metadata;

describe('a selector', () => {
  test('chooses the objects to delete, in the named cluster', async () => {
    const { code, out } = await run(['delete', 'cm', '-l', 'sweep=yes', '--context', 'north']);
    expect([code, out]).toEqual([0, 'configmap/dust-1 deleted (north)\nconfigmap/dust-2 deleted (north)\n']);
    expect([names('north'), names('south')]).toEqual([['kept'], ['dust-1', 'dust-2', 'kept']]);
  });

  test.each([[['--dry-run']], [['--dry-run=server']], [['--dry-run=client']]])('writes nothing with %s', async (how) => {
    const { code, out } = await run(['delete', 'cm', '--field-selector', 'metadata.name=dust-1', ...how]);
    expect([code, out]).toEqual([0, expect.stringMatching(/dust-1 deleted \(north\).*dry run/)]);
    expect(names('north')).toEqual(['dust-1', 'dust-2', 'kept']);
  });

  test('that finds nothing is no failure', async () => {
    expect(await run(['delete', 'cm', '-l', 'sweep=maybe'])).toEqual({ code: 0, out: '', err: 'No resources found\n' });
    expect(await run(['delete', 'cm', '--all', '-n', 'nowhere'])).toEqual({ code: 0, out: '', err: 'No resources found\n' });
    expect(await run(['describe', 'cm', '-l', 'sweep=maybe'])).toEqual({ code: 0, out: '', err: 'No resources found\n' });
  });

  test.each([
    [['delete', 'cm']],
    [['delete', 'cm', '-l', '']],
    [['delete', 'cm', '--field-selector', '']],
    [['delete', 'cm', 'kept', '-l', 'sweep=no']],
    [['delete', 'cm/kept', '--all']],
    [['delete', 'cm', '-l', 'sweep=no', '--all']],
    [['delete', '-l', 'sweep=no']],
    [['delete', 'cm', 'kept', '-A']],
    [['delete', 'cm', '-l', 'sweep=no', '--dry-run=maybe']],
    [['delete', 'cm', '-l', 'sweep=no', '--all-clusters', '--context', 'north']],
    [['describe', 'cm', '-l', '']],
  ])('is refused in %j', async (args) => {
    expect(await run(args)).toMatchObject({ code: 2, out: '' });
    expect([...names('north'), ...names('south')]).toHaveLength(6);
  });

  test('chooses the objects to describe', async () => {
    expect((await run(['describe', 'cm', '-l', 'sweep=yes', '--context', 'north'])).out).toMatch(/dust-1.*dust-2/s);
  });

  test('that may have missed objects fails', async () => {
    gateway.cluster('south').disconnect();
    await gateway.until(async () => (await run(['list', 'cm'])).err.includes('UNREACHABLE'));
    const { code, err } = await run(['label', 'cm', '-l', 'sweep=maybe', 'a=b']);
    expect([code, err]).toEqual([1, expect.stringContaining('did not answer: south (UNREACHABLE)')]);
  });
});

describe('F2: a person on a terminal', () => {
  test.each(['', 'n', 'yess'])('the answer %j changes nothing', async (typed) => {
    const { code, err } = await run(['delete', 'cm', 'kept'], typed);
    expect(code).toBe(1);
    expect(err).toBe('delete in 2 clusters: north, south\n  configmap/kept in default\nContinue? [y/N] muster: nothing was changed\n');
    expect(names('north')).toContain('kept');
  });

  test.each(['y', 'YES'])('agrees with %s', async (typed) => {
    expect((await run(['delete', 'cm', 'kept'], typed)).code).toBe(0);
    expect([...names('north'), ...names('south')]).not.toContain('kept');
  });

  test.each([[['--context', 'north', '--context', 'south']], [['--all-clusters']], [['-y']], [['--dry-run']]])(
    'is not asked with %j',
    async (flags) => {
      const { code, err } = await run(['apply', '-f', '-', ...flags], 'n', manifestFile(settings('new')));
      expect([code, err]).toEqual([0, '']);
    },
  );
});

describe('labels and annotations', () => {
  test('change in each cluster, and only with --overwrite if they exist', async () => {
    expect((await run(['label', 'cm/kept', 'team=shop', 'tier-'])).out).toBe(
      'configmap/kept labeled (north)\nconfigmap/kept labeled (south)\n',
    );
    expect(metadataOf('south', 'kept')?.labels).toEqual({ sweep: 'no', team: 'shop' });
    await gateway.until(async () => (await run(['list', 'cm', '-l', 'team=shop', '-o', 'name'])).out.split('\n').length === 3);
    const refused = await run(['label', 'cm', 'kept', 'team=cart']);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('muster: north: kept: team already has the value shop\n')]);
    expect((await run(['label', 'cm', 'kept', 'team=cart', '--overwrite', '--context', 'north'])).code).toBe(0);
    expect([metadataOf('north', 'kept')?.labels?.team, metadataOf('south', 'kept')?.labels?.team]).toEqual(['cart', 'shop']);
    expect((await run(['label', 'cm', 'kept', 'sweep=no', '--context', 'north'])).out).toBe('configmap/kept not labeled (north)\n');
    expect((await run(['label', 'cm', 'kept', 'team-', '--context', 'north'])).out).toBe('configmap/kept unlabeled (north)\n');
    expect((await run(['annotate', 'cm', '-l', 'sweep=yes', 'note=a=b', '--context', 'north'])).code).toBe(0);
    expect(metadataOf('north', 'dust-2')?.annotations).toEqual({ note: 'a=b' });
  });

  test.each([[['label', 'cm/kept']], [['label', 'cm', 'kept', 'a=b', 'other']], [['annotate', 'a=b']]])(
    'are refused in %j',
    async (args) => {
      expect(await run(args)).toMatchObject({ code: 2, out: '' });
    },
  );
});

describe('patch', () => {
  test.each([
    [['-p', '{"data":{"b":"2"}}', '--type', 'merge'], { a: '1', b: '2' }],
    [['-p', 'data: {b: "2"}', '--type', 'merge'], { a: '1', b: '2' }],
    [['-p', '[{"op":"remove","path":"/data/a"}]', '--type', 'json'], {}],
  ])('applies %j', async (flags, data) => {
    expect((await run(['patch', 'cm/kept', ...flags])).out).toBe('configmap/kept patched (north)\nconfigmap/kept patched (south)\n');
    expect(gateway.cluster('south').get({ group: '', kind: 'ConfigMap' }, 'kept', 'default')?.data ?? {}).toEqual(data);
  });

  test.each([
    [[]],
    [['-p', '[1]']],
    [['-p', '{}', '--type', 'json']],
    [['-p', '{']],
    [['-p', '{}', '--patch-file', 'x']],
    [['-p', '{}', '--type', 'x']],
  ])('refuses %j', async (flags) => {
    expect(await run(['patch', 'cm/kept', ...flags])).toMatchObject({ code: 2, out: '' });
  });
});
