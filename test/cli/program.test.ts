import { mkdtemp, mkdtempDisposable, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { type ProgramOptions, runProgram } from '../../src/cli/program.ts';
import type { Flags } from '../../src/config/config.ts';
import { MusterError } from '../../src/core/errors.ts';
import { createFakeTerminal } from '../support/cli/fake-terminal.ts';
import { manifestReader } from '../support/cli/run-cli.ts';
import { createManualClock } from '../support/manual-clock.ts';

async function run(...args: string[]) {
  const terminal = createFakeTerminal();
  const seen: { flags?: Flags } = {};
  const code = await runProgram(args, {
    version: '1.2.3',
    serve: async (flags) => {
      seen.flags = { ...flags };
      return 7;
    },
    schema: async ({ schemaLock }) => {
      if (schemaLock === 'broken') throw new MusterError('BAD_INPUT', 'it is no lock');
      return `# of ${schemaLock}\n`;
    },
    start: async () => expect.unreachable('serving starts no gateway of a command'),
    reader: manifestReader,
    terminal,
    clock: createManualClock(),
    environment: {},
    directory: '.',
    signal: new AbortController().signal,
  });
  return { code, ...seen, out: terminal.written, err: terminal.told };
}

test('serves if no command is named, and returns its exit code', async () => {
  expect(await run()).toEqual({ code: 7, flags: {}, out: '', err: '' });
  expect(await run('serve')).toEqual({ code: 7, flags: {}, out: '', err: '' });
});

test('parses every flag, and keeps the order of repeated ones', async () => {
  const args =
    '--kubeconfig k --context a --context b --demo --host ::1 --port 0 --allow-origin https://a --allow-origin https://b --token-file t --schema-lock s --log-level debug --config c';
  const flags = {
    kubeconfig: 'k',
    context: ['a', 'b'],
    demo: true,
    host: '::1',
    port: '0',
    allowOrigin: ['https://a', 'https://b'],
    tokenFile: 't',
    schemaLock: 's',
    logLevel: 'debug',
    config: 'c',
  };
  expect((await run(...args.split(' '))).flags).toEqual(flags);
  expect((await run('serve', ...args.split(' '))).flags).toEqual(flags);
});

test('prints the schema without a gateway', async () => {
  expect(await run('schema', '--schema-lock', 'here')).toEqual({ code: 0, out: '# of here\n', err: '' });
  expect(await run('schema', '--schema-lock', 'broken')).toEqual({ code: 2, out: '', err: 'muster: it is no lock\n' });
  expect(await run('schema', 'more')).toMatchObject({ code: 2, out: '' });
});

test.each<[string, string | undefined, RegExp]>([
  ['a key is unknown', 'clusters: [{ name: a, hbu: true }]', /^FILE: unknown key clusters\[0\]\.hbu; did you mean clusters\[0\]\.hub\?\n$/],
  ['a value is wrong', 'port: many', /^FILE: port: expected [^\n]*\n$/],
  ['keys do not fit together', 'importers: [MultiClusterResource]', /^FILE: importers: expected a hub[^\n]*\n$/],
  ['callers need no credentials', 'host: 0.0.0.0', /^FILE: the host "0\.0\.0\.0" is not loopback[^\n]*\n$/],
  ['it is missing', undefined, /^FILE: [^\n]*there is no such file\n$/],
])('config check refuses a config file if %s', async (_, text, expected) => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'muster-program-'));
  const file = path.join(folder.path, 'checked.yaml');
  if (text !== undefined) await writeFile(file, `apiVersion: config.muster.dev/v1alpha1\n${text}\n`);
  const { code, out, err } = await run('config', 'check', file);
  expect([code, out]).toEqual([2, '']);
  expect(err.replaceAll(file, 'FILE')).toMatch(expected);
});

test('config check accepts a config file whose other files are missing', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'muster-program-'));
  const file = path.join(folder.path, 'checked.yaml');
  await writeFile(file, 'apiVersion: config.muster.dev/v1alpha1\nhost: 0.0.0.0\ntokenFile: /none/token\n');
  expect(await run('config', 'check', file)).toEqual({ code: 0, out: `${file} is valid\n`, err: '' });
});

test('converts a config without a gateway', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-program-'));
  const file = path.join(folder, 'config.yaml');
  const text = 'clusters:\n  - metadata: { clusterName: a, configPath: kubeconfig, isMaster: true, weight: 3 }\n';
  await writeFile(file, text);
  expect(await run('config', 'import', '-f', file)).toEqual({
    code: 0,
    out: `apiVersion: config.muster.dev/v1alpha1\nclusters:\n  - name: a\n    kubeconfig: ${folder}/kubeconfig\n    hub: true\nimporters:\n  - MultiClusterResource\n`,
    err: 'warning: unknown key clusters[0].metadata.weight; expected one of clusterName, configPath, insecure, isMaster\n',
  });
  await writeFile(file, 'clusters: []\n');
  expect(await run('config', 'import', '-f', file)).toEqual({
    code: 2,
    out: '',
    err: `muster: ${file}: clusters: expected 1 to 1000 members, got 0\n`,
  });
  expect(await run('config', 'import')).toMatchObject({ code: 2, out: '' });
  expect(await run('config', 'import', '-f', path.join(folder, 'absent'))).toMatchObject({ code: 2, out: '' });
  await rm(folder, { recursive: true });
});

test.each([
  ['an unknown flag', ['--prot', '4000'], "muster: unknown option '--prot' (Did you mean --port?)\n"],
  ['an unknown command', ['lsit', 'pods'], 'muster: there is no command lsit: did you mean list?\n'],
  [
    'a command that only kubectl has',
    ['exec', 'web-0'],
    'muster: there is no command exec: kubectl --context CLUSTER exec does it in one cluster\n',
  ],
  ['one that has another name', ['set', 'image'], /^muster: there is no command set: muster patch, .*\n$/],
  [
    'one behind flags',
    ['--context', 'a', '-nshop', '--demo', 'xyzzy'],
    /^muster: there is no command xyzzy: expected one of serve, clusters, .*\n$/,
  ],
  ['what serving takes not', ['serve', 'list'], /^muster: too many arguments for 'serve'.*\n$/],
  ['a flag without its value', ['--port'], "muster: option '--port <number>' argument missing\n"],
  ['a flag of a later release', ['--mesh', 'north'], /^muster: unknown option '--mesh'.*\n$/],
])('refuses %s with one line and exit code 2', async (_, args, message) => {
  const { code, err, out, flags } = await run(...args);
  expect([code, out, flags]).toEqual([2, '', undefined]);
  if (typeof message === 'string') expect(err).toBe(message);
  else expect(err).toMatch(message);
});

test.each([[['--help']], [['help']], [['serve', '--help']]])('prints the help with every flag once at %j', async (args) => {
  const { code, out } = await run(...args);
  expect(code).toBe(0);
  for (const flag of [
    '--kubeconfig',
    '--context',
    '--demo',
    '--host',
    '--port',
    '--allow-origin',
    '--token-file',
    '--log-level',
    '--config',
  ])
    expect(out.split(`\n  ${flag} `)).toHaveLength(2);
});

test('lists the commands by purpose, before the flags of a gateway', async () => {
  const { out } = await run('--help');
  const headings = ['Look:', 'Change objects:', 'Keep the same', 'Run a gateway:', 'Others:', 'Options:'];
  const places = headings.map((heading) => out.indexOf(`\n${heading}`));
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(out.slice(places[0], places[1])).toMatch(/^ {2}list\|get /m);
  expect(out.slice(places[4], places[5])).toMatch(/^ {2}completion [\s\S]*^ {2}help /m);
});

test('accepts flags before their command', async () => {
  expect((await run('--context', 'a', '--log-level=debug', 'serve', '--port', '0')).flags).toEqual({
    context: ['a'],
    logLevel: 'debug',
    port: '0',
  });
  const { out } = await run('--help', 'list');
  expect(out).toMatch(/^Usage: muster list/);
});

test('prints its version', async () => {
  expect((await run('--version')).out).toBe('1.2.3\n');
});

describe('a command with a gateway', () => {
  const refusing = (code: string, message: string) => async () => {
    throw new MusterError(code as 'BAD_INPUT', message);
  };

  async function runWith(args: readonly string[], parts: Partial<ProgramOptions> = {}, terminal = createFakeTerminal()) {
    const code = await runProgram(args, {
      version: '1.2.3',
      serve: async () => 0,
      start: refusing('BAD_INPUT', 'nothing is started'),
      reader: manifestReader,
      terminal,
      clock: createManualClock(),
      environment: {},
      directory: '.',
      signal: new AbortController().signal,
      ...parts,
    });
    return { code, out: terminal.written, err: terminal.told, terminal };
  }

  test('starts its own gateway by default, shows the progress, sends its token, and ends it', async () => {
    const seen: { flags?: unknown; authorization?: string | undefined; hasEnded: boolean } = { hasEnded: false };
    const server = createServer((request, response) => {
      seen.authorization = request.headers.authorization;
      response.setHeader('content-type', 'application/json').end('{"data":{"clusters":[]}}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const start: ProgramOptions['start'] = async ({ flags, onProgress }) => {
      seen.flags = { ...flags };
      onProgress({ cluster: 'north', step: 'synced', version: 'v1', objects: 1 });
      onProgress({ cluster: 'south', step: 'connecting' });
      const dispose = async () => {
        seen.hasEnded = true;
      };
      return { address: { url: `http://127.0.0.1:${port}/graphql`, token: async () => 'correct-horse' }, [Symbol.asyncDispose]: dispose };
    };
    const { code, err, terminal } = await runWith(
      ['clusters', '--demo', '--config', 'c'],
      { start },
      createFakeTerminal({ isWatched: true }),
    );
    server.close();
    expect([code, err]).toEqual([0, 'No clusters found\n']);
    expect(seen).toEqual({ flags: { demo: true, config: 'c' }, authorization: 'Bearer correct-horse', hasEnded: true });
    expect(terminal.statuses).toEqual(['starting: 1 of 1 clusters', 'starting: 1 of 2 clusters, waiting for south (connecting)', '']);
  });

  test('is found after its own flags', async () => {
    const { code, err } = await runWith(['--gateway', 'ftp://x', '-n', 'list', 'logs', 'web']);
    expect([code, err]).toEqual([2, expect.stringMatching(/^muster: --gateway: expected a URL/)]);
  });

  test('is found after a flag that has a value in some commands only', async () => {
    // `-f` means --follow for logs and a file for apply.
    expect((await runWith(['-f', 'logs', 'web', '--gateway', 'ftp://x'])).err).toMatch(/^muster: --gateway: expected a URL/);
    expect((await runWith(['-f', 'none.yaml', 'apply', '--gateway', 'ftp://x'])).err).toMatch(/^muster: --gateway: expected a URL/);
    expect((await runWith(['-f', 'xyzzy', 'aply'])).err).toBe('muster: there is no command aply: did you mean apply?\n');
  });

  test('uses a named fleet instead of the gateway of the environment', async () => {
    const environment = { MUSTER_GATEWAY: '127.0.0.1:1' };
    expect((await runWith(['clusters', '--demo'], { environment })).err).toBe('muster: nothing is started\n');
    expect((await runWith(['clusters'], { environment })).err).toContain('http://127.0.0.1:1/graphql');
  });

  test('ends at once when the signal aborts, even while a gateway starts', async () => {
    const life = new AbortController();
    const running = runWith(['clusters'], { signal: life.signal, start: () => new Promise(() => undefined) });
    life.abort();
    const { out, err, terminal } = await running;
    expect([out, err]).toEqual(['', '']);
    expect(terminal.settled).toBeGreaterThan(0);
  });

  describe('the embedded fleet', () => {
    const commands: readonly (readonly [command: string, input: string, isWrite: boolean])[] = [
      ['list pods', '', false],
      ['plan -f none.yaml', '', false],
      ['delete deploy web', '', true],
      ['delete deploy web --dry-run', '', false],
      ['apply -f none.yaml', '', true],
      ['apply -f none.yaml --dry-run', '', false],
      ['scale deploy web --replicas 2', '', true],
      ['scale deploy web --replicas 2 --dry-run', '', false],
      ['restart deploy web', '', true],
      ['restart deploy web --dry-run', '', false],
      ['delete deploy web --dry-run=client', '', false],
      ['delete deploy web --dry-run=none', '', true],
      ['propagate -f none.yaml', '', true],
      ['propagate -f none.yaml --dry-run', '', false],
      ['rollout status web', '', false],
      ['rollout pause web', '', true],
      ['rollout resume web', '', true],
      ['rollout rollback web', '', true],
      ['query -', '{ clusters { name } }', false],
      ['query -', 'mutation { restart(targets: []) { ok } }', true],
      ['query - --operation B', 'mutation A { restart(targets: []) { ok } } query B { clusters { name } }', false],
    ];

    test.each(commands)('%s of %s: knows before a gateway starts whether it writes (%s)', async (command, input, isWrite) => {
      const seen: { writes?: boolean } = {};
      const start: ProgramOptions['start'] = async ({ writes }) => {
        seen.writes = writes;
        throw new MusterError('BAD_INPUT', 'nothing is started');
      };
      await runWith(command.split(' '), { start }, createFakeTerminal({ input }));
      expect(seen).toEqual({ writes: isWrite });
    });

    test.each([
      ['is said to answer on standard error, in one line, if the gateway says so', true, /^DEMO [^\n]+\nNo clusters found\n$/],
      ['is not mentioned otherwise', false, /^No clusters found\n$/],
    ])('%s', async (_, demo, line) => {
      const server = createServer(async (request, response) => {
        const { query } = (await new Response(Readable.toWeb(request) as ReadableStream).json()) as { query: string };
        const data = query.includes('demo') ? { gateway: { demo } } : { clusters: [] };
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { out, err } = await runWith(['clusters', '--gateway', `127.0.0.1:${(server.address() as AddressInfo).port}`, '-o', 'name']);
      server.close();
      expect(out).toBe('');
      expect(err).toMatch(line);
    });
  });

  test('is queried for the embedded fleet in parallel to the first request, and its line comes first', async () => {
    const arrived = { question: Promise.withResolvers<void>(), request: Promise.withResolvers<void>() };
    const server = createServer(async (request, response) => {
      const { query } = (await new Response(Readable.toWeb(request) as ReadableStream).json()) as { query: string };
      const isQuestion = query.includes('demo');
      arrived[isQuestion ? 'question' : 'request'].resolve();
      await arrived[isQuestion ? 'request' : 'question'].promise;
      const data = isQuestion ? { gateway: { demo: true } } : { clusters: [] };
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { err } = await runWith(['clusters', '--gateway', `127.0.0.1:${(server.address() as AddressInfo).port}`, '-o', 'name']);
    server.close();
    expect(err).toMatch(/^DEMO [^\n]+\nNo clusters found\n$/);
  });

  test.each([
    ['wants a token', 401, 'application/json', '{}', /requires a token: expected --token-file or MUSTER_TOKEN\n$/],
    [
      'is none',
      200,
      'text/html',
      '<html>',
      /^muster: expected a gateway at http:\S+, got an answer that is not GraphQL \(200 text\/html\)\n$/,
    ],
    ['is none either', 404, 'application/json', '{"error":"x"}', /^muster: expected a gateway at/],
  ])('prints one line and exits with 2 for a gateway that %s', async (_, status, type, body, line) => {
    const server = createServer((__, response) => response.writeHead(status, { 'content-type': type }).end(body));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { code, err } = await runWith(['clusters', '--gateway', `127.0.0.1:${(server.address() as AddressInfo).port}`]);
    server.close();
    expect(code).toBe(2);
    expect(err).toMatch(line);
  });

  test.each([
    [
      'to another origin, whose query is not printed',
      308,
      'https://sso.example.com/login?state=secret',
      /^https:\/\/sso\.example\.com\/login$/,
    ],
    ['to another path', 301, '/muster/graphql', /^http:\/\/127\.0\.0\.1:\d+\/muster\/graphql$/],
    ['without a location', 302, undefined, /^nowhere$/],
    ['to a text that is no address', 307, 'https://[', /^nowhere$/],
  ])('names both addresses and the remedy for a redirect %s, and does not follow it', async (_, status, location, target) => {
    let requests = 0;
    const server = createServer((__, response) => {
      requests += 1;
      response.writeHead(status, location === undefined ? {} : { location }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, err } = await runWith(['query', '{ clusters { name } }', '--gateway', address]);
    server.close();
    expect(code).toBe(2);
    const found = /^muster: expected a gateway at (\S+), got a redirect to (\S+) \(HTTP (\d+)\)\. Redirects are not followed: (.+)\n$/.exec(
      err,
    );
    expect(found?.slice(1)).toEqual([
      `http://${address}/graphql`,
      expect.stringMatching(target),
      String(status),
      'give the address of the gateway itself with --gateway or MUSTER_GATEWAY',
    ]);
    // One request is the command's, the other asks for the embedded fleet.
    expect(requests).toBe(2);
  });

  const commands = [
    'clusters',
    'list',
    'describe',
    'tree',
    'watch',
    'logs',
    'query',
    'plan',
    'propagate',
    'rollout',
    'apply',
    'delete',
    'scale',
    'restart',
  ];

  test.each(commands)('%s --help explains how a gateway is chosen', async (command) => {
    const { code, out } = await runWith([command, '--help']);
    expect(code).toBe(0);
    for (const flag of ['--context', '--gateway', '--token-file', '--kubeconfig', '--hub', '--demo', '--config'])
      expect(out.split(`\n  ${flag} `)).toHaveLength(2);
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });
});
