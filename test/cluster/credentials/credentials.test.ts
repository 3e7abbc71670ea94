import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createCredentials, type IdentityResult } from '../../../src/cluster/credentials/credentials.ts';
import type { Endpoint } from '../../../src/cluster/endpoint.ts';
import { connect, endpointFor, never, until } from '../../support/cluster/transport.ts';
import { liveHeapBytes } from '../../support/heap.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import type { SimCluster } from '../../support/sim/sim-cluster.ts';
import { startSimCluster } from '../../support/sim/start-sim-cluster.ts';

let folder = '';
const lives: AbortController[] = [];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-credentials-'));
});
afterEach(() => {
  for (const life of lives.splice(0)) life.abort();
});
afterAll(() => rm(folder, { recursive: true }));

function provider(more: Partial<Endpoint>) {
  const clock = createManualClock();
  const life = new AbortController();
  lives.push(life);
  const endpoint = endpointFor({ url: 'https://a.example', caPem: 'CA' }, more);
  return { clock, life, credentials: createCredentials(() => endpoint, clock, life.signal) };
}

const headersOf = (obtained: IdentityResult | undefined) => (obtained?.type === 'obtained' ? obtained.identity.headers : obtained);
const authorizationOf = (obtained: IdentityResult | undefined) =>
  obtained?.type === 'obtained' ? obtained.identity.headers.authorization : obtained?.failure.message;

/** Makes a plugin that runs this program under Node and logs each run. */
function exec(program: string, more: Partial<Extract<Endpoint['credentials'], { type: 'exec' }>['plugin']> = {}): Partial<Endpoint> {
  const log = path.join(folder, 'runs');
  const counted = `require('node:fs').appendFileSync(${JSON.stringify(log)}, 'x'); const runs = require('node:fs').readFileSync(${JSON.stringify(log)}, 'utf8').length; ${program}`;
  const plugin = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: ['-e', counted],
    environment: { PATH: process.env.PATH ?? '' },
    provideClusterInfo: false,
    ...more,
  };
  return { credentials: { type: 'exec', plugin } };
}
const answer = (status: string) =>
  `console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: ${status} }));`;

describe('fixed credentials', () => {
  test('are a trimmed token, a password, or nothing', async () => {
    expect(authorizationOf(await provider({ credentials: { type: 'token', token: 't \n' } }).credentials.obtain(never))).toBe('Bearer t');
    expect(
      authorizationOf(await provider({ credentials: { type: 'basic', username: 'ü', password: 'p:q' } }).credentials.obtain(never)),
    ).toBe(`Basic ${Buffer.from('ü:p:q').toString('base64')}`);
    expect(headersOf(await provider({}).credentials.obtain(never))).toEqual({});
  });

  test('a token that no header can carry is no token', async () => {
    const obtained = await provider({ credentials: { type: 'token', token: 'a\nb: c' } }).credentials.obtain(never);
    expect(obtained).toMatchObject({
      type: 'failed',
      failure: { code: 'UNAUTHENTICATED', message: 'the token has characters that are not allowed in a token' },
    });
  });

  test('impersonation headers have every group and every extra as bytes of UTF-8', async () => {
    const impersonation = { user: 'jürgen', uid: 'u', groups: ['a', 'b'], extra: { 'Example.com/Team (x)': ['1', '2'] } };
    const bytes = (text: string) => Buffer.from(text).toString('latin1');
    expect(headersOf(await provider({ impersonation }).credentials.obtain(never))).toEqual({
      'impersonate-user': bytes('jürgen'),
      'impersonate-uid': 'u',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-example.com%2Fteam%20%28x%29': ['1', '2'],
    });
  });
});

describe('files', () => {
  test('a token is read again after 60 s, and a failed read keeps the old one', async () => {
    const file = path.join(folder, 'token');
    await writeFile(file, 'one\n');
    const { clock, credentials } = provider({ credentials: { type: 'tokenFile', path: file } });
    expect(authorizationOf(await credentials.obtain(never))).toBe('Bearer one');
    await writeFile(file, 'two\n');
    await clock.advance(59_000);
    expect(authorizationOf(await credentials.obtain(never))).toBe('Bearer one');
    await clock.advance(1_000);
    expect(authorizationOf(await credentials.obtain(never))).toBe('Bearer two');
    await rm(file);
    await clock.advance(60_000);
    expect(authorizationOf(await credentials.obtain(never))).toBe('Bearer two');
  });

  test('an OIDC provider: the id token while it is valid, a fault where it has expired and cannot be refreshed', async () => {
    const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const tokenUntil = (seconds: number) => `${base64({ alg: 'RS256' })}.${base64({ exp: seconds })}.c2ln`;
    const obtain = (token: string) =>
      provider({ credentials: { type: 'oidc', settings: { 'id-token': token, 'client-id': 'c' } } }).credentials.obtain(never);
    const valid = tokenUntil(Date.now() / 1_000 + 3_600);
    expect(authorizationOf(await obtain(valid))).toBe(`Bearer ${valid}`);
    expect(authorizationOf(await obtain(tokenUntil(1)))).toBe('the OIDC provider gave no token');
  });

  test('P14: a day of tokens that change every 90 s opens no new connection and keeps no old token', async () => {
    const file = path.join(folder, 'day');
    await writeFile(file, 'token 0');
    const { clock, credentials } = provider({ credentials: { type: 'tokenFile', path: file } });
    const connections = new Set<number>();
    let before = 0;
    for (let rotation = 1; rotation <= (24 * 3600) / 90; rotation += 1) {
      await writeFile(file, `token-${rotation}-${'x'.repeat(4_096)}`);
      await clock.advance(90_000);
      const obtained = await credentials.obtain(never);
      expect(authorizationOf(obtained)).toContain(`Bearer token-${rotation}-`);
      if (obtained.type === 'obtained') connections.add(obtained.identity.tls.serial);
      if (rotation === 100) before = liveHeapBytes();
    }
    expect(connections.size).toBe(1);
    // 860 tokens of 4 kB would be 3.5 MB.
    expect(liveHeapBytes() - before).toBeLessThan(1_000_000);
  });

  test('a file that was never there is a fault that names it', async () => {
    const { credentials } = provider({ credentials: { type: 'tokenFile', path: path.join(folder, 'nope') } });
    expect(await credentials.obtain(never)).toMatchObject({
      type: 'failed',
      failure: { code: 'UNAUTHENTICATED', message: expect.stringContaining('nope') },
    });
  });

  test('B11, B12: a new certificate raises the serial of the connections, a new token does not', async () => {
    const [token, ca] = [path.join(folder, 't2'), path.join(folder, 'ca')];
    await Promise.all([writeFile(token, 'one'), writeFile(ca, 'CA 1')]);
    const { clock, credentials } = provider({
      credentials: { type: 'tokenFile', path: token },
      trust: { type: 'authority', certificates: { type: 'file', path: ca } },
    });
    const serials = async () => {
      await clock.advance(60_000);
      const obtained = await credentials.obtain(never);
      return obtained.type === 'obtained' ? [obtained.identity.serial, obtained.identity.tls.serial] : [];
    };
    expect(await serials()).toEqual([1, 1]);
    expect(await serials()).toEqual([1, 1]);
    await writeFile(token, 'two');
    expect(await serials()).toEqual([2, 1]);
    await writeFile(ca, 'CA 2');
    expect(await serials()).toEqual([3, 3]);
  });
});

describe('exec plugins', () => {
  afterEach(() => rm(path.join(folder, 'runs'), { force: true }));

  test('give a token that is kept until 10 s before it expires, and one run serves all callers', async () => {
    const { clock, credentials } = provider(exec(answer('{ token: "t" + runs, expirationTimestamp: "2026-01-01T00:01:00Z" }')));
    const all = await Promise.all(Array.from({ length: 10 }, () => credentials.obtain(never)));
    expect(new Set(all.map(authorizationOf))).toEqual(new Set(['Bearer t1']));
    await clock.advance(49_000);
    expect(authorizationOf(await credentials.obtain(never))).toBe('Bearer t1');
    await clock.advance(1_000);
    expect(authorizationOf(await credentials.obtain(never))).toBe('Bearer t2');
  });

  test('receive the request of kubectl’s contract and only their own environment', async () => {
    const program = answer(
      '{ token: Buffer.from(JSON.stringify([JSON.parse(process.env.KUBERNETES_EXEC_INFO), process.env.OWN, process.env.HOME ?? null])).toString("base64") }',
    );
    const told = async (provideClusterInfo: boolean) => {
      const { credentials } = provider({ tlsServerName: 'other', ...exec(program, { provideClusterInfo, environment: { OWN: 'x' } }) });
      return JSON.parse(
        Buffer.from(String(authorizationOf(await credentials.obtain(never))).replace('Bearer ', ''), 'base64').toString(),
      ) as unknown;
    };
    const head = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' };
    expect(await told(false)).toEqual([{ ...head, spec: { interactive: false } }, 'x', null]);
    const cluster = {
      server: 'https://a.example',
      'tls-server-name': 'other',
      'certificate-authority-data': Buffer.from('CA').toString('base64'),
      config: null,
    };
    expect(await told(true)).toEqual([{ ...head, spec: { interactive: false, cluster } }, 'x', null]);
  });

  test('may give a certificate', async () => {
    const { credentials } = provider(exec(answer('{ clientCertificateData: "C", clientKeyData: "K" }')));
    const obtained = await credentials.obtain(never);
    expect(obtained.type === 'obtained' && [obtained.identity.tls.cert, obtained.identity.tls.key].map(String)).toEqual(['C', 'K']);
  });

  test.each([
    ['ends with 1', 'console.error("please log in\\u0007 first"); process.exit(1)', /ended with exit code 1: please log in first$/],
    ['prints rubbish', 'console.log("hello")', /wrote no ExecCredential$/],
    ['prints another kind', 'console.log("{}")', /wrote no ExecCredential$/],
    [
      'speaks another version',
      'console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1beta1", kind: "ExecCredential", status: { token: "t" } }))',
      /another version/,
    ],
    ['gives nothing', answer('{}'), /neither token nor certificate$/],
    ['writes without end', 'setInterval(() => process.stdout.write("x".repeat(65536)), 1)', /wrote more than 64 KiB/],
    ['kills itself', 'process.kill(process.pid, "SIGKILL")', /ended by SIGKILL/],
  ])('one that %s is a fault', async (_name, program, message) => {
    const { credentials } = provider(exec(program));
    expect(await credentials.obtain(never)).toMatchObject({
      type: 'failed',
      failure: { code: 'UNAUTHENTICATED', message: expect.stringMatching(message), retry: 'LATER' },
    });
  });

  test('a missing plugin fails with its install hint', async () => {
    const { credentials } = provider(exec('', { command: path.join(folder, 'nope'), installHint: 'get it there' }));
    expect(await credentials.obtain(never)).toMatchObject({ failure: { message: 'the exec plugin was not found (get it there)' } });
  });

  test('an environment that the system refuses is a failure, and ends nothing else', async () => {
    const { credentials } = provider(exec('', { provideClusterInfo: true, config: 'x'.repeat(4 << 20) }));
    expect(await credentials.obtain(never)).toMatchObject({ failure: { message: 'the exec plugin could not be started' } });
  });

  test('one that hangs is killed after 60 s, and not run again for 10 s', async () => {
    const pidFile = path.join(folder, 'pid');
    const { clock, credentials } = provider(
      exec(`require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => 0, 1000)`),
    );
    const obtained = credentials.obtain(never);
    await until(() => clock.sleepers > 0);
    const { existsSync, readFileSync } = await import('node:fs');
    await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '');
    await clock.advance(59_900);
    expect(isRunning(Number(readFileSync(pidFile, 'utf8')))).toBe(true);
    await clock.advance(100);
    expect(await obtained).toMatchObject({ type: 'failed', failure: { message: expect.stringContaining('60 s') } });
    await until(() => !isRunning(Number(readFileSync(pidFile, 'utf8'))));
    await credentials.obtain(never);
    expect(readFileSync(path.join(folder, 'runs'), 'utf8')).toBe('x');
  });

  test('at most two run at a time, whatever the number of clusters', async () => {
    const busy = path.join(folder, 'busy');
    // A program ends only after a second one has started, so that two overlap on a busy machine too.
    const program = `
      const fs = require('node:fs');
      const file = ${JSON.stringify(busy)};
      const end = () => { fs.appendFileSync(file, '-'); ${answer('{ token: "t" }')} };
      const endLater = () => setTimeout(fs.readFileSync(file, 'utf8').split('+').length > 2 ? end : endLater, 20);
      fs.appendFileSync(file, '+');
      endLater();`;
    const all = await Promise.all(Array.from({ length: 5 }, () => provider(exec(program)).credentials.obtain(never)));
    expect(all.map(authorizationOf)).toEqual(Array(5).fill('Bearer t'));
    const { readFileSync } = await import('node:fs');
    let running = 0;
    const most = Math.max(...[...readFileSync(busy, 'utf8')].map((sign) => (running += sign === '+' ? 1 : -1)));
    expect(most).toBe(2);
  });

  test('one plugin that hangs delays only its own clusters, and is killed with the processes that it has started', async () => {
    const { existsSync, readFileSync } = await import('node:fs');
    const pidFile = path.join(folder, 'childPid');
    const script = `sleep 1000 & echo $! > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; wait`;
    const hanging = { command: '/bin/sh', args: ['-c', script], provider: 'hanging', deadlineMs: 10_000 };
    const providers = Array.from({ length: 5 }, () => provider(exec('', hanging)));
    const obtained = providers.map(({ credentials }) => credentials.obtain(never));
    await until(() => existsSync(pidFile));
    expect(authorizationOf(await provider(exec(answer('{ token: "t" }'))).credentials.obtain(never))).toBe('Bearer t');
    expect(authorizationOf(await provider(exec(answer('{ token: "u" }'), { provider: 'other' })).credentials.obtain(never))).toBe(
      'Bearer u',
    );
    const childPid = Number(readFileSync(pidFile, 'utf8'));
    expect(isRunning(childPid)).toBe(true);
    for (const { life } of providers) life.abort();
    expect((await Promise.all(obtained)).map(({ type }) => type)).toEqual(Array(5).fill('failed'));
    await until(() => !isRunning(childPid));
  });

  test('the end of the cluster kills one that runs', async () => {
    const { clock, life, credentials } = provider(exec('setInterval(() => 0, 1000)'));
    const obtained = credentials.obtain(never);
    await until(() => clock.sleepers > 0);
    life.abort();
    expect(await obtained).toMatchObject({ type: 'failed' });
    await until(() => clock.sleepers === 0);
  });
});

describe('a 401', () => {
  const sims: SimCluster[] = [];
  afterEach(async () => {
    await Promise.all(sims.splice(0).map((sim) => sim.stop()));
  });

  test('reads the token again, once for all, and resumes with it', async () => {
    const sim = await startSimCluster({ name: 'south' });
    sims.push(sim);
    const file = path.join(folder, 'rotated');
    await writeFile(file, sim.token);
    const clock = createManualClock();
    using south = connect(endpointFor(sim, { credentials: { type: 'tokenFile', path: file } }), clock);
    const call = () => south.api.send({ method: 'GET', path: ['api', 'v1', 'pods'] }, never);
    expect(await call()).toMatchObject({ type: 'answered' });
    await writeFile(file, sim.rotateToken());
    const answers = await Promise.all(Array.from({ length: 30 }, call));
    expect(answers.map(({ type }) => type)).toEqual(Array(30).fill('answered'));
    expect(sim.requests.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(30);
    expect(new Set(sim.requests.slice(1).map(({ headers }) => headers.authorization)).size).toBe(2);
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
