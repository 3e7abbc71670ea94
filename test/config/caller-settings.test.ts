import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkCallerFiles } from '../../src/config/caller-settings.ts';
import type { Flags } from '../../src/config/config.ts';
import { loadConfig, reloadClusters, reloadInventories } from '../../src/config/load-config.ts';
import { createAuthority } from '../support/identity/authority.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-config-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const at = (name: string) => path.join(folder, name);
const issuer = { issuer: 'https://login.example.com', audiences: ['muster'] };

/** Loads a config file with these keys. JSON is YAML. */
async function load(keys: object, flags: Flags = {}, environment: Record<string, string> = {}) {
  await writeFile(at('muster.yaml'), JSON.stringify({ apiVersion: 'config.muster.dev/v1alpha1', ...keys }));
  return loadConfig({ flags: { config: 'muster.yaml', ...flags }, environment, directory: folder });
}
const problem = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'accepted',
    (error: { code?: string; message: string }) => `${error.code}: ${error.message.replaceAll(folder, '')}`,
  );

test('callers have absolute paths and defaults', async () => {
  const config = await load({
    tls: { certFile: 'tls.pem', keyFile: '/etc/tls.key' },
    authentication: {
      oidc: [
        { ...issuer, caFile: 'idp.pem' },
        {
          issuer: 'https://other.example.com/realm',
          audiences: ['a', 'b'],
          usernameClaim: 'email',
          usernamePrefix: '',
          groupsClaim: 'roles',
          groupsPrefix: 'idp/',
          algorithms: ['RS256'],
        },
      ],
      tokenReview: { audiences: ['muster'] },
      clientCertificates: { caFile: 'clients.pem' },
      proxy: { caFile: 'proxies.pem', allowedNames: ['front'], userHeader: 'X-Remote-User' },
    },
    audit: { file: 'muster.audit' },
    metricsPort: 9090,
    clusters: [
      { name: 'north', hub: true, authorization: 'rbac', identity: { userPrefix: 'corp:' } },
      { name: 'south', secrets: 'metadata' },
    ],
  });
  const names = { usernameClaim: 'sub', groupsClaim: 'groups', usernamePrefix: 'oidc:', groupsPrefix: 'oidc:' };
  const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
  expect(config.tls).toEqual({ certFile: at('tls.pem'), keyFile: '/etc/tls.key' });
  expect(config.authentication).toEqual({
    oidc: [
      { ...issuer, caFile: at('idp.pem'), ...names, algorithms },
      {
        issuer: 'https://other.example.com/realm',
        audiences: ['a', 'b'],
        usernameClaim: 'email',
        groupsClaim: 'roles',
        usernamePrefix: '',
        groupsPrefix: 'idp/',
        algorithms: ['RS256'],
      },
    ],
    tokenReview: { audiences: ['muster'] },
    clientCertificates: { caFile: at('clients.pem') },
    proxy: { caFile: at('proxies.pem'), allowedNames: ['front'], userHeader: 'X-Remote-User' },
  });
  expect(config).toMatchObject({ audit: { file: at('muster.audit') }, metricsPort: 9090, secrets: 'none' });
  expect(config.clusters).toMatchObject([
    { name: 'north', authorization: 'rbac', identity: { userPrefix: 'corp:', groupPrefix: '' }, secrets: 'none' },
    { name: 'south', authorization: 'sar', secrets: 'metadata' },
  ]);
  expect(config.clusters[1]?.identity).toBeUndefined();
  expect(await reloadClusters(at('muster.yaml'), config)).toEqual(config.clusters);
});

test('a file that loses or gains authentication while the gateway runs changes nothing, so that no default becomes wider', async () => {
  const clusters = [{ name: 'hub', context: 'hub', hub: true }];
  const shared = await load({ authentication: { oidc: [issuer] }, clusters });
  const local = await load({ clusters });
  expect([shared.clusters[0]?.secrets, local.clusters[0]?.secrets]).toEqual(['none', 'live']);
  const refusal = 'BAD_INPUT: /muster.yaml: authentication: expected the key to stay until the gateway is started again';
  expect(await problem(reloadClusters(at('muster.yaml'), shared))).toBe(refusal);
  expect(await problem(reloadInventories(at('muster.yaml'), shared))).toBe(refusal);
  await load({ authentication: { oidc: [issuer] }, clusters });
  expect(await problem(reloadClusters(at('muster.yaml'), local))).toContain('authentication: expected none until');
});

test('authentication allows any host, and writes the audit to standard output unless a file is named', async () => {
  expect(await load({ authentication: { oidc: [issuer] }, host: '0.0.0.0' })).toMatchObject({ host: '0.0.0.0', audit: {} });
  expect((await load({ authentication: { oidc: [issuer] } })).audit?.file).toBeUndefined();
  expect((await load({})).audit).toBeUndefined();
  expect((await load({ audit: { file: 'a' } })).audit).toEqual({ file: at('a') });
  expect((await load({ secrets: 'live', authentication: { oidc: [issuer] } })).secrets).toBe('live');
});

test('the metrics port is that of a flag, a variable or the file, in this order', async () => {
  expect((await load({ metricsPort: 1 }, { metricsPort: '3' }, { MUSTER_METRICS_PORT: '2' })).metricsPort).toBe(3);
  expect((await load({ metricsPort: 1 }, {}, { MUSTER_METRICS_PORT: '2' })).metricsPort).toBe(2);
  expect((await load({ metricsPort: 0 })).metricsPort).toBe(0);
  expect((await load({})).metricsPort).toBeUndefined();
});

const proxy = { caFile: 'p', allowedNames: ['front'], userHeader: 'X-Remote-User' };
const tls = { certFile: 'c', keyFile: 'k' };

test.each([
  [
    {
      authentication: { oidc: [issuer] },
      clusters: [{ name: 'hub', context: 'hub', hub: true }],
      inventories: [{ type: 'MulticlusterRuntime' }],
    },
    'inventories[0].namespaces: expected namespaces with `authentication`',
  ],
  [
    { clusters: [{ name: 'hub', context: 'hub', hub: true }], inventories: [{ type: 'Istio', namespaces: [] }] },
    'inventories[0].namespaces: expected 1 to 1000 members, got 0',
  ],
  [
    {
      clusters: [{ name: 'hub', context: 'hub', hub: true }],
      inventories: [{ type: 'ClusterProfile', providers: ['/a', '/b'].map((command) => ({ name: 'cloud', command })) }],
    },
    'inventories[0].providers[1].name: "cloud" is already the name of inventories[0].providers[0]',
  ],
  [{ authentication: {} }, 'authentication: expected at least one of oidc, tokenReview, clientCertificates, proxy'],
  [{ authentication: { oidc: [] } }, 'authentication.oidc: expected 1 to 1000 members, got 0'],
  [{ authentication: { odic: [issuer] } }, 'unknown key authentication.odic; did you mean authentication.oidc?'],
  [{ authentication: { oidc: [{ ...issuer, audience: 'x' }] } }, 'unknown key authentication.oidc[0].audience; did you mean'],
  [{ authentication: { oidc: [{ issuer: issuer.issuer }] } }, 'authentication.oidc[0].audiences is missing'],
  [{ authentication: { oidc: [{ ...issuer, audiences: [] }] } }, 'authentication.oidc[0].audiences: expected 1 to 1000 members, got 0'],
  [{ authentication: { oidc: [{ ...issuer, issuer: 'http://127.0.0.1' }] } }, 'authentication.oidc[0].issuer: expected a URL with https'],
  [{ authentication: { oidc: [{ ...issuer, issuer: 'https://a.io/?x' }] } }, 'authentication.oidc[0].issuer: expected a URL without user,'],
  [{ authentication: { oidc: [{ ...issuer, issuer: 'https://u@a.io' }] } }, 'authentication.oidc[0].issuer: expected a URL without user,'],
  [
    { authentication: { oidc: [issuer, issuer] } },
    'authentication.oidc[1].issuer: "https://login.example.com" is already the issuer of authentication.oidc[0]',
  ],
  [{ authentication: { oidc: [{ ...issuer, algorithms: ['HS256'] }] } }, 'authentication.oidc[0].algorithms[0]: expected RS256,'],
  [{ authentication: { oidc: [{ ...issuer, algorithms: ['none'] }] } }, 'authentication.oidc[0].algorithms[0]: expected RS256,'],
  [{ authentication: { oidc: [{ ...issuer, usernamePrefix: 'system:' }] } }, 'authentication.oidc[0].usernamePrefix: expected a prefix'],
  [{ authentication: { oidc: [{ ...issuer, groupsPrefix: 'system:x' }] } }, 'authentication.oidc[0].groupsPrefix: expected a prefix'],
  [{ authentication: { tokenReview: {} } }, 'authentication.tokenReview.audiences is missing'],
  [
    { authentication: { tokenReview: { audiences: ['muster'] } } },
    'authentication.tokenReview: expected a hub, which is asked about tokens',
  ],
  [{ authentication: { clientCertificates: { caFile: 'c' } } }, 'authentication.clientCertificates: expected tls with it'],
  [{ authentication: { proxy } }, 'authentication.proxy: expected tls with it'],
  [{ tls, authentication: { proxy: { ...proxy, allowedNames: [] } } }, 'authentication.proxy.allowedNames: expected 1 to 1000 members'],
  [{ tls, authentication: { proxy: { ...proxy, userHeader: 'X Y' } } }, 'authentication.proxy.userHeader: expected the name of a header'],
  [{ tls, authentication: { proxy: { ...proxy, userHeader: 'Authorization' } } }, 'authentication.proxy.userHeader: expected the name'],
  [
    { tls, authentication: { proxy: { ...proxy, groupHeader: 'x-remote-USER' } } },
    'authentication.proxy.groupHeader: expected another header',
  ],
  [{ tls: { certFile: 'c' } }, 'tls.keyFile is missing'],
  [{ tokenFile: 'token', authentication: { oidc: [issuer] } }, 'tokenFile: expected no token file with authentication'],
  [{ audit: {} }, 'audit.file is missing'],
  [{ metricsPort: 70_000 }, 'metricsPort: expected an integer from 0 to 65535, got 70000'],
  [{ clusters: [{ name: 'a', identity: 'passthrough' }] }, 'clusters[0].identity: expected a mapping, got "passthrough"'],
  [{ clusters: [{ name: 'a', identity: { userPrefix: 'system:' } }] }, 'clusters[0].identity.userPrefix: expected a prefix'],
  [{ clusters: [{ name: 'a', authorization: 'open' }] }, 'clusters[0].authorization: expected sar, rbac, live, got "open"'],
  [
    { clusters: [{ name: 'a' }, { name: 'b', hub: true, authorization: 'live' }] },
    'clusters[1].authorization: expected sar or rbac for the hub, got "live"',
  ],
])('refuses %j in one line, with the file and the key', async (keys, message) => {
  const refused = await problem(load(keys));
  expect(refused).toContain(`/muster.yaml: ${message}`);
  expect(refused).toMatch(/^BAD_INPUT: [^\n]+$/);
});

test('refuses flags that do not fit, and takes the hub from a flag', async () => {
  expect(await problem(load({ authentication: { oidc: [issuer] } }, { tokenFile: 't' }))).toContain('--token-file: expected no token file');
  expect(await problem(load({ authentication: { oidc: [issuer] } }, {}, { MUSTER_TOKEN_FILE: 't' }))).toContain(
    'MUSTER_TOKEN_FILE: expected no',
  );
  expect(await problem(load({}, { port: '4000', metricsPort: '4000' }))).toContain('expected another metrics port');
  expect((await load({ authentication: { tokenReview: { audiences: ['muster'] } } }, { hub: 'north' })).hub).toBe('north');
});

test('checks the files before anything listens: they exist, hold certificates, and the key belongs to the certificate', async () => {
  const authority = createAuthority('test');
  const server = authority.issue({ cn: 'muster', hosts: ['localhost'] });
  const other = authority.issue({ cn: 'other' });
  await writeFile(at('good.pem'), server.cert + authority.ca);
  await writeFile(at('good.key'), server.key);
  await writeFile(at('other.key'), other.key);
  await writeFile(at('broken.pem'), server.cert.replace(/\n[A-Za-z0-9+/]{5}/, '\n'));
  await writeFile(at('text.pem'), 'no certificate');
  await writeFile(at('ca.pem'), authority.ca);
  const good = { certFile: 'good.pem', keyFile: 'good.key' };
  const check = async (keys: object) => problem(load(keys).then(checkCallerFiles));
  const refused = {
    'tls.certFile: there is no file /absent.pem': { tls: { ...good, certFile: 'absent.pem' } },
    'tls.certFile: expected certificates in PEM in /text.pem': { tls: { ...good, certFile: 'text.pem' } },
    'tls.certFile: expected certificates in PEM in /broken.pem': { tls: { ...good, certFile: 'broken.pem' } },
    'tls.keyFile: there is no file /absent.key': { tls: { ...good, keyFile: 'absent.key' } },
    'tls.keyFile: expected a private key in PEM without a passphrase in /text.pem': { tls: { ...good, keyFile: 'text.pem' } },
    'tls.keyFile: expected the key of the certificate in /good.pem, got another key in /other.key': {
      tls: { ...good, keyFile: 'other.key' },
    },
    'authentication.oidc[1].caFile: there is no file /absent.pem': {
      authentication: { oidc: [issuer, { ...issuer, issuer: 'https://b.io', caFile: 'absent.pem' }] },
    },
    'authentication.clientCertificates.caFile: expected certificates in PEM in /text.pem': {
      tls: good,
      authentication: { clientCertificates: { caFile: 'text.pem' } },
    },
    'authentication.proxy.caFile: there is no file /absent.pem': {
      tls: good,
      authentication: { proxy: { ...proxy, caFile: 'absent.pem' } },
    },
    'audit.file: there is no file /absent/audit': { audit: { file: 'absent/audit' } },
    'audit.file: cannot open /good.pem/audit: ENOTDIR': { audit: { file: 'good.pem/audit' } },
  };
  for (const [message, keys] of Object.entries(refused)) expect(await check(keys)).toBe(`BAD_INPUT: /muster.yaml: ${message}`);
  await writeFile(at('kept.audit'), 'a line\n');
  await chmod(at('kept.audit'), 0o600);
  const all = {
    tls: good,
    authentication: {
      oidc: [{ ...issuer, caFile: 'ca.pem' }],
      clientCertificates: { caFile: 'ca.pem' },
      proxy: { ...proxy, caFile: 'ca.pem' },
    },
    audit: { file: 'kept.audit' },
  };
  expect(await check(all)).toBe('accepted');
  expect(await readFile(at('kept.audit'), 'utf8')).toBe('a line\n');
});
