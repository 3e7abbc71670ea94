import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StreamLost, StreamRefused } from '../../../src/cli/client/subscription.ts';
import { jobState, summaryOf } from '../../support/cli/job-states.ts';
import { type CliOptions, startCli } from '../../support/cli/run-cli.ts';
import { createScriptedStreams } from '../../support/cli/scripted-streams.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ north: [], south: [] });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const watching = (args: readonly string[], options: CliOptions = {}) => running(['watch', ...args], options);

function running(args: readonly string[], options: CliOptions = {}) {
  const script = createScriptedStreams();
  return { ...script, ...startCli(gateway, args, { ...options, streams: script.streams }) };
}

const pod = (name: string, version = '1', cluster = 'north') => ({
  id: `${cluster}-${name}`,
  apiVersion: 'v1',
  kind: 'Pod',
  cluster: { name: cluster },
  metadata: { name, namespace: 'shop', creationTimestamp: new Date(gateway.clock.now()).toISOString(), resourceVersion: version },
  ...{ podReady: '1/1', podPhase: 'Running', restarts: 0, lastRestart: null },
  object: { kind: 'Pod', metadata: { name } },
  yaml: `kind: Pod\nmetadata:\n  name: ${name}\n`,
});

const change = (type: string, parts: object = {}, cluster = 'north') => ({
  type,
  cluster: { name: cluster },
  kind: { group: '', kind: 'Pod' },
  cursor: `cursor of ${type}`,
  fault: null,
  added: [],
  modified: [],
  deleted: [],
  ...parts,
});

describe('objects', () => {
  test('are printed in columns, first as they exist, then as they change', async () => {
    const { send, until, stop, ended, terminal, asked } = watching(['po', '-n', 'shop', '-l', 'app=web', '--context', 'north']);
    send('resources', change('INITIAL', { added: [pod('web'), pod('recommendations')] }));
    send('resources', change('SYNCED'));
    send('resources', change('LIVE', { modified: [pod('web', '2')], deleted: [pod('recommendations')] }));
    await until(({ written }) => written.split('\n').length > 5);
    expect(terminal.written.replaceAll(/\d+s/g, '0s')).toBe(
      [
        'EVENT      CLUSTER   NAMESPACE   NAME              READY   STATUS    RESTARTS   AGE\n',
        'ADDED      north     shop        web               1/1     Running   0          0s\n',
        'ADDED      north     shop        recommendations   1/1     Running   0          0s\n',
        'DELETED    north     shop        recommendations   1/1     Running   0          0s\n',
        'MODIFIED   north     shop        web               1/1     Running   0          0s\n',
      ].join(''),
    );
    expect(asked[0]?.variables).toEqual({ kinds: ['po'], clusters: ['north'], namespaces: ['shop'], labels: 'app=web', after: null });
    stop();
    await ended();
  });

  test('resume after a loss, and report a reader that fell behind', async () => {
    const { send, fail, until, stop, ended, terminal, asked } = watching(['pods']);
    send('resources', change('INITIAL', { added: [pod('web')] }));
    fail(new StreamLost('1001', { wasOpen: true }));
    send('resources', change('LIVE', { added: [pod('api')] }));
    const fault = { code: 'UNREACHABLE', message: 'the connection was refused', cluster: { name: 'south' }, kind: { plural: 'pods' } };
    send('resources', change('FAILED', { fault }, 'south'));
    await until(({ told }) => told.includes('south'));
    expect(asked.map(({ variables }) => variables?.after)).toEqual([null, 'cursor of INITIAL']);
    expect(terminal.told).toBe(
      'warning: 1001: trying again in 1 s\nthe gateway answers again\nwarning: south: pods: UNREACHABLE the connection was refused\n',
    );
    expect(terminal.written.match(/ADDED/g)).toHaveLength(2);
    stop();
    await ended();
  });

  test('start from the beginning if the cursor is refused, and print only differences', async () => {
    const { send, fail, until, stop, ended, terminal, asked } = watching(['pods']);
    send('resources', change('INITIAL', { added: [pod('web'), pod('gone')] }));
    send('resources', change('SYNCED'));
    fail(new StreamLost('1006', { wasOpen: true }));
    fail(new StreamRefused(2, 'no such cursor'));
    send('resources', change('INITIAL', { added: [pod('web'), pod('new')] }));
    send('resources', change('SYNCED'));
    await until(({ written }) => written.includes('DELETED'));
    expect(asked.map(({ variables }) => variables?.after)).toEqual([null, 'cursor of SYNCED', null]);
    const events = terminal.written.split('\n').map((line) =>
      line
        .split(/ {3,}/)
        .filter((_, at) => at === 0 || at === 3)
        .join(' '),
    );
    expect(events).toEqual(['EVENT NAME', 'ADDED web', 'ADDED gone', 'ADDED new', 'DELETED gone', '']);
    stop();
    await ended();
  });

  test('of several kinds are printed with their kinds', async () => {
    const { send, until, stop, ended, terminal } = watching(['pods,jobs']);
    send('resources', change('INITIAL', { added: [pod('web')] }));
    await until(({ written }) => written.includes('ADDED'));
    expect(terminal.written).toMatch(
      /^EVENT +CLUSTER +NAMESPACE +NAME +READY +STATUS +AGE\nADDED +north +shop +pod\/web +1\/1 +Running +\d+s\n$/,
    );
    stop();
    await ended();
  });

  test('-o json prints a line per change with its type, and a restart repeats none', async () => {
    const { send, fail, until, stop, ended, terminal } = watching(['pods', '-o', 'json']);
    send('resources', change('INITIAL', { added: [pod('web')] }));
    fail(new StreamLost('1006', { wasOpen: true }));
    fail(new StreamRefused(2, 'no such cursor'));
    send('resources', change('INITIAL', { added: [pod('web'), pod('api')] }));
    await until(({ written }) => written.includes('api'));
    const documents = terminal.written
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const annotations = { 'muster.dev/cluster': 'north' };
    expect(documents).toEqual(['web', 'api'].map((name) => ({ type: 'ADDED', object: { kind: 'Pod', metadata: { name, annotations } } })));
    stop();
    await ended();
  });
});

describe('get -w', () => {
  const messages = () => [
    change('INITIAL', { added: [pod('web')] }),
    change('SYNCED'),
    change('LIVE', { modified: [pod('web', '2')] }),
    change('LIVE', { added: [pod('api')], deleted: [pod('web', '2')] }),
  ];

  /** Runs `get pods` with these flags, and returns its output once it has this number of lines. */
  const printed = async (flags: readonly string[], lines: number) => {
    const { send, until, stop, ended, terminal, asked } = running(['get', 'pods', ...flags]);
    for (const message of messages()) send('resources', message);
    await until(({ written }) => written.split('\n').length > lines);
    stop();
    await ended();
    return { text: terminal.written.replaceAll(/\d+s/g, '0s'), asked: asked[0] };
  };

  test('prints the table, then a row per change', async () => {
    const { text, asked } = await printed(['-w', '-n', 'shop', '-l', 'app=web', '--where', 'restarts>=0'], 5);
    expect(text).toBe(
      [
        'CLUSTER   NAMESPACE   NAME   READY   STATUS    RESTARTS   AGE\n',
        'north     shop        web    1/1     Running   0          0s\n',
        'north     shop        web    1/1     Running   0          0s\n',
        'north     shop        web    1/1     Running   0          0s\n',
        'north     shop        api    1/1     Running   0          0s\n',
      ].join(''),
    );
    expect(asked?.variables).toEqual({
      ...{ kinds: ['pods'], clusters: null, namespaces: ['shop'], labels: 'app=web', after: null },
      where: { path: 'restarts', gte: 0 },
    });
  });

  test('of names asks only for these objects', async () => {
    const { asked } = await printed(['web', 'api', '-w'], 5);
    expect(asked?.variables?.where).toEqual({ path: 'metadata.name', in: ['web', 'api'] });
  });

  const events = ['MODIFIED web', 'DELETED web', 'ADDED api'];
  test.each([
    ['all with their types', ['-w', '--output-watch-events', '-o', 'custom-columns=N:.metadata.name'], ['EVENT N', 'ADDED web', ...events]],
    [
      'no header',
      ['-w', '--no-headers', '-o', 'custom-columns=N:.metadata.name,C:.cluster.name'],
      ['web north', 'web north', 'web north', 'api north'],
    ],
    ['only later changes', ['--watch-only', '--output-watch-events', '--no-headers', '-o', 'custom-columns=N:.metadata.name'], events],
    ['names', ['-w', '-o', 'name'], ['web', 'web', 'web', 'api'].map((name) => `north/shop/pod/${name}`)],
    [
      'names with their types',
      ['--watch-only', '--output-watch-events', '-o', 'name'],
      ['MODIFIED north/shop/pod/web', 'DELETED north/shop/pod/web', 'ADDED north/shop/pod/api'],
    ],
    ['templates', ['-w', '-o', 'jsonpath={.metadata.name}{"\\n"}'], ['web', 'web', 'web', 'api']],
    [
      'templates with their types',
      ['--watch-only', '--output-watch-events', '-o', 'jsonpath={.type} {.object.metadata.name}{"\\n"}'],
      events,
    ],
  ])('prints %s', async (_, flags, expected) => {
    const { text } = await printed(flags, expected.length);
    const lines = text.trimEnd().split('\n');
    expect(lines.map((line) => line.trim().replaceAll(/ +/g, ' '))).toEqual(expected);
  });

  test('-o yaml prints documents', async () => {
    expect((await printed(['--watch-only', '-o', 'yaml'], 12)).text).toBe(
      ['web', 'web', 'api'].map((name) => `---\n# cluster: north\nkind: Pod\nmetadata:\n  name: ${name}\n`).join(''),
    );
    const { text } = await printed(['--watch-only', '--output-watch-events', '-o', 'yaml'], 18);
    expect(text).toContain('---\n# cluster: north\ntype: ADDED\nobject:\n  kind: Pod\n  metadata:\n    name: api\n');
  });

  test('--watch-only prints additions after a reset, and not those of a cluster that answers late', async () => {
    const { send, until, stop, ended, terminal } = running(['get', 'pods', '--watch-only', '-o', 'name']);
    for (const message of messages().slice(0, 2)) send('resources', message);
    send('resources', change('FAILED', {}, 'south'));
    send('resources', change('INITIAL', { added: [pod('late', '1', 'south')] }, 'south'));
    send('resources', change('SYNCED', {}, 'south'));
    send('resources', change('RESET'));
    send('resources', change('INITIAL', { added: [pod('web'), pod('new')] }));
    send('resources', change('SYNCED'));
    send('resources', change('LIVE', { deleted: [pod('late', '1', 'south')] }, 'south'));
    await until(({ written }) => written.includes('late'));
    expect(terminal.written).toBe('north/shop/pod/new\nsouth/shop/pod/late\n');
    stop();
    await ended();
  });

  test('ends with 1 if a template cannot be applied', async () => {
    const { send, ended, terminal } = running(['get', 'pods', '-w', '-o', 'jsonpath={.nope}', '--allow-missing-template-keys=false']);
    send('resources', change('INITIAL', { added: [pod('web')] }));
    expect(await ended()).toBe(1);
    expect(terminal.told).toMatch(/the template cannot be applied: .*nope/);
  });

  test.each([
    ['--output-watch-events alone', ['pods', '--output-watch-events'], 'expected -w or --watch-only with --output-watch-events'],
    ['different names of two kinds', ['pod/web', 'deploy/api', '-w'], 'expected the same names for each kind with -w'],
  ])('refuses %s', async (_, args, message) => {
    const { ended, terminal } = running(['get', ...args]);
    expect(await ended()).toBe(2);
    expect(terminal.told).toBe(`muster: ${message}\n`);
  });
});

const clusters = ['north', 'south'];
const complete = {
  phase: 'COMPLETE',
  succeeded: 1,
  completionTime: '2026-01-01T00:00:12Z',
  job: { metadata: { uid: 'uid', creationTimestamp: '2026-01-01T00:00:00Z', resourceVersion: '2' } },
};
const status = (type: string, jobs: readonly ReturnType<typeof jobState>[], parts: object = {}, behind: readonly string[] = []) => ({
  ...change(type, parts),
  summary: summaryOf(jobs, clusters, behind),
});

describe('jobs', () => {
  test('are a line per change without a terminal', async () => {
    const { send, until, stop, ended, terminal } = watching(['jobs.batch']);
    const [before, after] = [jobState('north', 'nightly'), jobState('north', 'nightly', complete)];
    send('jobStatus', status('INITIAL', [before], { added: [before] }));
    send('jobStatus', status('LIVE', [after], { modified: [after] }));
    await until(({ written }) => written.includes('Complete'));
    const lines = terminal.written.split('\n').map((line) => line.split(/ {3,}/));
    expect(lines[0]).toEqual(['CLUSTER', 'NAMESPACE', 'NAME', 'EVENT', 'STATUS', 'COMPLETIONS', 'DURATION', 'AGE']);
    expect(lines[1]?.slice(0, 6)).toEqual(['north', 'batch', 'nightly', 'ADDED', 'Running', '0/1']);
    expect(lines[2]?.slice(0, 7)).toEqual(['north', 'batch', 'nightly', 'MODIFIED', 'Complete', '1/1', '12s']);
    expect(terminal.frames).toEqual([]);
    stop();
    await ended();
  });

  test('are a table on a terminal, redrawn after changes, every second and on resize', async () => {
    const { send, until, stop, ended, terminal } = watching(['jobs'], { isInteractive: true });
    const [before, after] = [jobState('north', 'nightly'), jobState('north', 'nightly', complete)];
    await until(({ frames }) => frames.length > 0);
    expect(terminal.frames[0]).toEqual(['waiting for the first state']);
    send('jobStatus', status('INITIAL', [before], { added: [before] }));
    await until(({ frames }) => frames.at(-1)?.some((line) => line.includes('Running')) === true);
    const drawn = terminal.frames.length;
    await gateway.pass(3_000);
    expect(terminal.frames.length - drawn).toBeGreaterThanOrEqual(2);
    expect(terminal.frames.length - drawn).toBeLessThanOrEqual(4);
    terminal.resize(80, 3);
    await until(({ frames }) => (frames.at(-1)?.length ?? 0) <= 3);
    terminal.resize(80, 24);
    send('jobStatus', status('LIVE', [after], { modified: [after] }));
    await until(({ frames }) => frames.at(-1)?.some((line) => line.includes('Complete')) === true);
    expect(terminal.written).toBe('');
    stop();
    await ended();
    expect([terminal.settled > 0, terminal.late]).toEqual([true, 0]);
  });

  test('are drawn in one frame after many changes at once', async () => {
    const { send, until, stop, ended, terminal } = watching(['jobs'], { isInteractive: true });
    await until(({ frames }) => frames.length > 0);
    const jobs = Array.from({ length: 200 }, (_, at) => jobState('north', `job-${at}`));
    for (const [at, job] of jobs.entries()) send('jobStatus', status('LIVE', jobs.slice(0, at + 1), { added: [job] }));
    await until(({ frames }) => frames.at(-1)?.at(-1)?.startsWith('all     200') === true);
    expect(terminal.frames.length).toBeLessThan(10);
    stop();
    await ended();
  });

  const ends = async (until: string, ...messages: readonly object[]) => {
    const cli = watching(['jobs', '--until', until]);
    for (const message of messages) cli.send('jobStatus', message);
    return { code: await cli.ended(), told: cli.terminal.told };
  };
  const [running, good, bad] = [jobState('north', 'a'), jobState('north', 'b', complete), jobState('south', 'c', { phase: 'FAILED' })];

  const inSouth = { cluster: { name: 'south' } };
  const none = [status('SYNCED', []), status('SYNCED', [], inSouth)];

  test('--until any ends with 0 once one is complete, and with 1 once all have failed', async () => {
    expect(await ends('any', ...none, status('LIVE', [running]), status('LIVE', [running, good]))).toEqual({
      code: 0,
      told: '2 Jobs: 1 complete, 0 failed\n',
    });
    expect(await ends('any', ...none, status('LIVE', [running, bad]), status('LIVE', [bad]))).toEqual({
      code: 1,
      told: '1 Job: 0 complete, 1 failed\n',
    });
  });

  test('--until all ends with 0 once all are complete and every cluster is in sync, and with 1 once one has failed', async () => {
    const unsure = status('LIVE', [good], {}, ['south']);
    expect(await ends('all', ...none, unsure, status('LIVE', [running, good]), status('LIVE', [good]))).toEqual({
      code: 0,
      told: '1 Job: 1 complete, 0 failed\n',
    });
    expect(await ends('all', ...none, status('LIVE', [running, good]), status('LIVE', [running, bad], {}, ['south']))).toEqual({
      code: 1,
      told: '2 Jobs: 0 complete, 1 failed\n',
    });
  });

  test.each(['any', 'all'])('--until %s first prints the existing Jobs of all clusters that have some', async (until) => {
    const other = jobState('south', 'd', complete);
    const { send, ended, terminal } = watching(['jobs', '--until', until]);
    const all = [good, other];
    send('jobStatus', status('INITIAL', all, { added: [good] }));
    send('jobStatus', status('SYNCED', all));
    send('jobStatus', status('INITIAL', all, { ...inSouth, added: [other] }));
    send('jobStatus', status('SYNCED', all, inSouth));
    expect(await ended()).toBe(0);
    const rows = terminal.written.split('\n').map((line) => line.split(/ {2,}/).slice(0, 5).join(' '));
    expect(rows).toEqual(['CLUSTER NAMESPACE NAME EVENT STATUS', 'north batch b ADDED Complete', 'south batch d ADDED Complete', '']);
    expect(terminal.told).toBe('2 Jobs: 2 complete, 0 failed\n');
  });

  test('--until keeps the last table', async () => {
    const { send, ended, terminal } = watching(['jobs', '--until', 'all'], { isInteractive: true });
    send('jobStatus', status('INITIAL', [good], { added: [good] }));
    send('jobStatus', status('SYNCED', [good]));
    expect(await ended()).toBe(0);
    expect(terminal.frames.at(-1)?.join('\n')).toContain('Complete');
    expect(terminal.late).toBe(0);
  });

  test('-o json prints the messages with their summaries', async () => {
    const { send, until, stop, ended, terminal } = watching(['jobs', '-o', 'json'], { isInteractive: true });
    const message = status('LIVE', [good], { added: [good] });
    send('jobStatus', message);
    await until(({ written }) => written.endsWith('\n'));
    expect(JSON.parse(terminal.written)).toEqual(message);
    stop();
    await ended();
  });
});

test.each([
  ['--until of another kind', ['pods', '--until', 'all'], 'muster: expected --until with jobs, got it with pods\n'],
  ['an unknown kind', ['nope'], /^muster: no kind nope.*\n$/],
  ['a format of other kinds', ['jobs', '-o', 'name'], 'muster: expected -o json or no -o with jobs\n'],
  ['an unknown word', ['jobs', '--until', 'some'], /^muster: .*Allowed choices are any, all.\n$/],
])('refuses %s', async (_, args, line) => {
  const { ended, terminal } = watching(args);
  expect(await ended()).toBe(2);
  expect(terminal.told).toMatch(line);
});
