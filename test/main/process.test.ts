import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type RunningProcess, runMuster } from '../support/run-process.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-process-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const run = (args: readonly string[], environment: Record<string, string> = {}) =>
  runMuster(args, { HOME: folder, XDG_STATE_HOME: path.join(folder, 'state'), ...environment });
const url = async (gateway: RunningProcess) => (await gateway.says(/^ready (http\S+)$/m))[1] ?? '';

async function ask(at: string, query: string, variables?: object) {
  const answer = await fetch(at, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  return (await answer.json()) as { data?: Record<string, never>; errors?: unknown };
}

describe('the embedded fleet', () => {
  test('starts without a kubeconfig, prints DEMO, and shows queries that run', async () => {
    await using gateway = run(['--port', '0']);
    const at = await url(gateway);
    expect(gateway.out()).toContain('DEMO');
    for (const cluster of ['eu-prod', 'us-prod', 'staging']) {
      expect(gateway.out()).toMatch(new RegExp(`^${cluster}  connecting$`, 'm'));
      expect(gateway.out()).toMatch(new RegExp(`^${cluster}  synced, [\\d,]+ objects \\(v1\\.\\d+\\.\\d+\\)$`, 'm'));
    }
    expect(await ask(at, '{ gateway { demo } clusters { phase } }')).toEqual({
      data: { gateway: { demo: true }, clusters: Array(3).fill({ phase: 'SYNCED' }) },
    });
    const shown = gateway
      .out()
      .slice(gateway.out().indexOf('DEMO'), gateway.out().indexOf('Open this address'))
      .split(/\n\n(?=# )/)
      .slice(1);
    expect(shown).toHaveLength(3);
    for (const query of shown) {
      const { data, errors } = await ask(at, query);
      expect(errors).toBeUndefined();
      expect(JSON.stringify(data)).toContain('"name"');
    }
    gateway.kill('SIGTERM');
    expect(await gateway.ended).toBe(0);
    expect(gateway.err()).not.toMatch(/"level":"(warn|error)"/);
  });

  test('every query that GraphiQL opens with finds something in it', async () => {
    await using gateway = run(['--demo', '--port', '0', '--log-level', 'error']);
    const at = await url(gateway);
    const { readExamples } = await import('../../src/serve/examples.ts');
    for (const { query, variables } of (await readExamples()).all) {
      const asked = variables === undefined ? undefined : JSON.parse(variables);
      const { data, errors } = await (/^subscription/m.test(query) ? firstMessage(at, query) : ask(at, query, asked));
      expect(errors).toBeUndefined();
      expect(JSON.stringify(data), query).toMatch(/"(name|kind|pod)":"|"keys":\["/);
    }
  });
});

test('a request during the start is answered as soon as possible', async () => {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  await using gateway = run(['--demo', '--port', String(port), '--log-level', 'error']);
  const livez = async () => fetch(`http://127.0.0.1:${port}/livez`).catch(() => undefined);
  let answer = await livez();
  while (answer === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    answer = await livez();
  }
  expect([answer.status, await answer.text()]).toEqual([200, 'ok\n']);
  expect(gateway.out()).not.toContain('ready');
});

describe('its end', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s ends it when idle, within a second, with exit code 0; a second one at once changes nothing',
    async (signal) => {
      await using gateway = run(['--demo', '--port', '0']);
      const at = await url(gateway);
      await ask(at, '{ clusters { name } }');
      const before = performance.now();
      gateway.kill(signal);
      gateway.kill(signal);
      expect(await gateway.ended).toBe(0);
      expect(performance.now() - before).toBeLessThan(2_000);
      await expect(fetch(at)).rejects.toThrow();
    },
  );

  test('a signal while it starts ends it too', async () => {
    await using gateway = run(['--demo', '--port', '0']);
    await gateway.says(/connecting/);
    gateway.kill('SIGTERM');
    expect(await gateway.ended).toBe(0);
  });

  test('a second signal more than a second later ends a hanging process at once', async () => {
    await writeFile(path.join(folder, 'muster.yaml'), 'apiVersion: config.muster.dev/v1alpha1\nshutdownDelaySeconds: 600\n');
    await using gateway = run(['--demo', '--port', '0', '--config', path.join(folder, 'muster.yaml')]);
    const at = await url(gateway);
    gateway.kill('SIGTERM');
    // The gateway is not ready from then on, but still answers.
    await untilStatus(new URL('/readyz', at), 503);
    expect((await ask(at, '{ clusters { name } }')).errors).toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    gateway.kill('SIGTERM');
    expect(await gateway.ended).toBe(143);
  });
});

describe('a wrong option is reported in one line, with exit code 2', () => {
  const refused = async (args: readonly string[], environment: Record<string, string> = {}) => {
    await using gateway = run(args, environment);
    expect(await gateway.ended).toBe(2);
    expect(gateway.out()).toBe('');
    expect(gateway.err()).toMatch(/^muster: [^\n]+\n$/);
    return gateway.err().trim();
  };

  test('a kubeconfig that was named and is not there', async () => {
    expect(await refused(['--kubeconfig', 'nowhere'])).toContain('nowhere');
    expect(await refused([], { KUBECONFIG: '/nowhere/config' })).toContain('/nowhere/config');
    expect(await refused([], { MUSTER_KUBECONFIG: '/nowhere/other' })).toContain('/nowhere/other');
  });

  test('a file that is not a kubeconfig', async () => {
    const file = path.join(folder, 'config');
    await writeFile(file, 'clusters: [');
    expect(await refused(['--kubeconfig', file])).toContain(file);
  });

  test('a context that is not in it', async () => {
    const file = path.join(folder, 'config');
    await writeFile(file, JSON.stringify(kubeconfig()));
    expect(await refused(['--kubeconfig', file, '--context', 'nroth'])).toContain(
      'no context "nroth" in the kubeconfig; did you mean "north"?',
    );
    expect(await refused(['--context', 'north'])).toContain('no kubeconfig found for the context "north"');
  });

  test('an unknown key of the config file', async () => {
    const file = path.join(folder, 'muster.yaml');
    await writeFile(file, 'apiVersion: config.muster.dev/v1alpha1\nprot: 4000\n');
    expect(await refused(['--demo', '--config', file])).toBe(`muster: ${file}: unknown key prot; did you mean port?`);
  });

  test('a port in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    // The command fails before any cluster is engaged, so no line names one.
    expect(await refused(['--demo', '--port', String(port)])).toBe(
      `muster: port ${port} on 127.0.0.1 is in use: choose another with --port`,
    );
    server.close();
  });

  test('P18: a host that is not loopback, without a token', async () => {
    expect(await refused(['--demo', '--host', '0.0.0.0'])).toContain('the host "0.0.0.0" is not loopback: expected --token-file');
    expect(await refused(['--demo', '--host', '0.0.0.0', '--token-file', 'nowhere'])).toContain(
      'nowhere cannot be read: there is no such file',
    );
  });

  test('an unknown flag', async () => {
    expect(await refused(['--kubconfig', 'x'])).toBe("muster: unknown option '--kubconfig' (Did you mean --kubeconfig?)");
  });
});

test('a token file allows another host, and the token is required there', async () => {
  await writeFile(path.join(folder, 'token'), 'correct-horse\n');
  await using gateway = run(['--demo', '--port', '0', '--host', '0.0.0.0', '--token-file', path.join(folder, 'token')]);
  const at = (await url(gateway)).replace('0.0.0.0', '127.0.0.1');
  const post = (headers: Record<string, string>) =>
    fetch(at, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{"query":"{ clusters { name } }"}' });
  expect((await post({})).status).toBe(401);
  expect((await post({ authorization: 'Bearer correct-horse' })).status).toBe(200);
});

test('the key that encrypts cursors is the same after a restart', async () => {
  const page = 'query ($after: String) { pods(first: 1, after: $after) { items { id } pageInfo { endCursor } } }';
  let after: unknown;
  for (const _ of ['first', 'second']) {
    await using gateway = run(['--demo', '--port', '0']);
    const { data, errors } = await ask(await url(gateway), page, { after });
    expect(errors).toBeUndefined();
    after = (data as { pods?: { pageInfo: { endCursor: string } } }).pods?.pageInfo.endCursor;
    expect(after).toEqual(expect.any(String));
  }
  expect((await stat(path.join(folder, 'state/muster/key'))).mode & 0o777).toBe(0o600);
});

/** Standard error has nothing else. */
const demoLine = /^DEMO [^\n]+\n$/;

describe('commands', () => {
  test('start a gateway for themselves, print the answer alone, and end it', async () => {
    await using list = run(['list', 'nodes', '--demo', '-o', 'name']);
    expect(await list.ended).toBe(0);
    expect(list.out()).toMatch(/^eu-prod\/\/node\/\S+\n/);
    expect(list.err()).toMatch(demoLine);
  });

  test('F3: without a gateway and a kubeconfig read from the embedded fleet, with one line DEMO on standard error', async () => {
    await using list = run(['list', 'deploy', '-n', 'shop', '-o', 'json']);
    expect(await list.ended).toBe(0);
    expect(JSON.stringify(JSON.parse(list.out()))).toContain('"checkout"');
    expect(list.err()).toMatch(demoLine);
  });

  test('F3: write to the embedded fleet only with --demo', async () => {
    await using refused = run(['delete', 'deploy', 'checkout', '-n', 'shop']);
    expect([await refused.ended, refused.out()]).toEqual([2, '']);
    expect(refused.err()).toMatch(/^muster: [^\n]+--demo[^\n]+\n$/);
    await using deleted = run(['delete', 'deploy', 'checkout', '-n', 'shop', '--demo']);
    expect(await deleted.ended).toBe(0);
    expect(deleted.out()).toContain('deployment.apps/checkout deleted (eu-prod)\n');
    expect(deleted.err()).toMatch(demoLine);
  });

  test('query a running gateway, with its token', async () => {
    await writeFile(path.join(folder, 'token'), 'correct-horse\n');
    const token = ['--token-file', path.join(folder, 'token')];
    await using gateway = run(['--demo', '--port', '0', ...token]);
    const at = await url(gateway);
    await using refused = run(['clusters', '--gateway', at]);
    expect([await refused.ended, refused.err()]).toEqual([
      2,
      `muster: the gateway at ${at} requires a token: expected --token-file or MUSTER_TOKEN\n`,
    ]);
    await using clusters = run(['clusters', '-o', 'name', ...token], { MUSTER_GATEWAY: at });
    expect([await clusters.ended, clusters.out()]).toEqual([0, 'eu-prod\nstaging\nus-prod\n']);
    await using watch = run(['watch', 'nodes', '-o', 'json', '--gateway', at, ...token]);
    await watch.says(/"type":"ADDED"/);
    watch.kill('SIGINT');
    expect([await watch.ended, watch.err()]).toEqual([130, expect.stringMatching(demoLine)]);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends one that has a gateway of its own with %d', async (signal, code) => {
    await using watch = run(['watch', 'jobs', '--demo']);
    await watch.says(/ADDED/);
    watch.kill(signal);
    expect([await watch.ended, watch.err()]).toEqual([code, expect.stringMatching(demoLine)]);
  });

  test('a closed pipe ends a command without a message', async () => {
    await using watch = run(['watch', 'events', '--demo', '-o', 'json']);
    await watch.says(/"type":"ADDED"/);
    watch.closeOut();
    expect([await watch.ended, watch.err()]).toEqual([141, expect.stringMatching(demoLine)]);
  });

  test('a kubeconfig that is not there is one line and exit code 2', async () => {
    await using list = run(['list', 'pods', '--kubeconfig', 'nowhere']);
    expect(await list.ended).toBe(2);
    expect(list.err()).toMatch(/^muster: .*nowhere.*\n$/);
  });
});

/** Returns the first message of a subscription over server-sent events. */
async function firstMessage(at: string, query: string) {
  const answer = await fetch(at, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
  });
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += Buffer.from(chunk).toString('utf8');
    const data = /^data: (.+)$/m.exec(text)?.[1];
    if (data === undefined || !text.includes('\n\n', text.indexOf(data))) continue;
    // Leaving the iteration closes the connection.
    return JSON.parse(data) as { data?: Record<string, never>; errors?: unknown };
  }
  throw new Error(`expected a message, got ${text}`);
}

async function untilStatus(at: URL, status: number): Promise<void> {
  while ((await fetch(at)).status !== status) await new Promise((resolve) => setTimeout(resolve, 20));
}

function kubeconfig() {
  return {
    clusters: [{ name: 'north', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'north', user: {} }],
    contexts: [{ name: 'north', context: { cluster: 'north', user: 'north' } }],
  };
}
