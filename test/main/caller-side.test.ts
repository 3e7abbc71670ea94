import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { authenticatorOf, followTokenFile, openListener } from '../../src/caller-side.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { tlsRequest } from '../support/clients/tls-request.ts';
import { createAuthority } from '../support/identity/authority.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-callers-'));
});
afterEach(() => rm(folder, { recursive: true }));

const authority = createAuthority('server');
const issue = () => authority.issue({ cn: 'muster', hosts: ['127.0.0.1'] });

async function load(keys: object) {
  await writeFile(path.join(folder, 'muster.yaml'), JSON.stringify({ apiVersion: 'config.muster.dev/v1alpha1', ...keys }));
  return loadConfig({ flags: { config: 'muster.yaml', port: '0' }, environment: {}, directory: folder });
}
const write = (name: string, text: string) => writeFile(path.join(folder, name), text);

test('files of TLS that change count for new connections, and broken ones change nothing', async () => {
  const first = issue();
  await write('tls.pem', first.cert);
  await write('tls.key', first.key);
  const clients = createAuthority('clients');
  await write('clients.pem', clients.ca);
  const tls = { certFile: 'tls.pem', keyFile: 'tls.key' };
  const config = await load({ tls, authentication: { clientCertificates: { caFile: 'clients.pem' } } });
  await using listening = await openListener(config);
  const warnings: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => warnings.push(fields) };
  const life = new AbortController();
  const authenticator = await authenticatorOf(
    { config, clock: systemClock, log },
    { listening, fleet: { member: () => undefined }, hub: undefined },
    life.signal,
  );
  expect(authenticator).toBeDefined();
  listening.main.onRequest(async ({ socket }, response) => void response.end(String('authorized' in socket && socket.authorized)));
  const ask = (shown = {}) => tlsRequest(`https://127.0.0.1:${listening.main.port}/`, { ca: authority.ca, ...shown });
  const { serial } = await ask();
  expect((await ask(clients.issue({ cn: 'pat' }))).text).toBe('true');

  await write('tls.key', issue().key);
  await vi.waitUntil(() => warnings.length > 0, { timeout: 10_000 });
  expect(JSON.stringify(warnings)).toContain('expected the key of the certificate');
  expect((await ask()).serial).toBe(serial);

  const second = issue();
  const newClients = createAuthority('clients');
  await write('tls.pem', second.cert);
  await write('tls.key', second.key);
  await write('clients.pem', newClients.ca);
  await vi.waitUntil(async () => (await ask()).serial !== serial, { timeout: 10_000 });
  await vi.waitUntil(async () => (await ask(newClients.issue({ cn: 'pat' }))).text === 'true', { timeout: 10_000 });
  expect((await ask(clients.issue({ cn: 'pat' }))).text).toBe('false');
  life.abort();
}, 30_000);

test('a token file that is swapped changes the token, and a broken one changes nothing', async () => {
  // A mounted Secret is swapped by another link to its folder.
  const swap = async (name: string, text: string) => {
    await mkdir(path.join(folder, name));
    await write(`${name}/token`, text);
    await symlink(name, path.join(folder, '..next'));
    await rename(path.join(folder, '..next'), path.join(folder, '..data'));
  };
  await swap('1', 'first-token');
  await symlink('..data/token', path.join(folder, 'token'));
  const config = await load({ tokenFile: 'token' });
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_: object, message: string) => warnings.push(message) };
  const tokens: string[] = [];
  const life = new AbortController();
  followTokenFile({ config, clock: systemClock, log }, { setToken: (token) => tokens.push(token) }, life.signal);
  await swap('2', 'second-token');
  await vi.waitUntil(() => tokens.at(-1) === 'second-token', { timeout: 10_000 });
  await swap('3', 'short');
  await vi.waitUntil(() => warnings.length > 0, { timeout: 10_000 });
  expect([tokens.at(-1), warnings[0]]).toEqual(['second-token', 'the token file cannot be used: the last token stays']);
  await swap('4', 'fourth-token');
  await vi.waitUntil(() => tokens.at(-1) === 'fourth-token', { timeout: 10_000 });
  life.abort();
}, 40_000);

test('a file that is wrong, or a port that is taken, refuses the start before anything listens', async () => {
  await write('tls.pem', 'nothing');
  const config = await load({ tls: { certFile: 'tls.pem', keyFile: 'tls.key' } });
  await expect(openListener(config)).rejects.toThrow(`${config.configFile}: tls.certFile: expected certificates in PEM`);
  await using taken = await openListener(await load({}));
  const { port } = taken.main;
  await expect(openListener(await load({ metricsPort: port }))).rejects.toThrow(`port ${port} on 127.0.0.1 is in use: choose another`);
});
