import { createHmac, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ConfiguredIssuer } from '../../src/config/config.ts';
import { tokenAlgorithms } from '../../src/config/defaults.ts';
import type { Identification } from '../../src/identity/authenticator.ts';
import { Issuer } from '../../src/identity/issuer.ts';
import { createAuthority } from '../support/identity/authority.ts';
import { signToken, startIssuer, type TestClaims, type TestIssuer } from '../support/identity/issuer.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';

const authority = createAuthority('identity provider');
let folder: string;
let clock: ManualClock;
let server: TestIssuer;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-issuer-'));
  await writeFile(path.join(folder, 'ca.pem'), authority.ca);
  clock = createManualClock({ startMs: Date.now() });
  server = await startIssuer(authority, () => clock.now());
});
afterEach(async () => {
  vi.useRealTimers();
  await server.leave();
  await rm(folder, { recursive: true });
});

function issuerWith(settings: Partial<ConfiguredIssuer> = {}): Issuer {
  const names = { usernameClaim: 'sub', groupsClaim: 'groups', usernamePrefix: 'oidc:', groupsPrefix: 'oidc:' };
  const caFile = path.join(folder, 'ca.pem');
  return new Issuer({ issuer: server.url, audiences: ['muster'], caFile, algorithms: tokenAlgorithms, ...names, ...settings }, clock);
}

/** The name and groups of the user, the reason of a refusal, or `unavailable`. */
function shown(found: Identification): unknown {
  if (found.result === 'unknown') return found.reason;
  if (found.result === 'unavailable') return 'unavailable';
  const { user } = found.session.caller;
  return [user?.user, ...(user?.groups ?? [])].join(' ');
}
const who = async (issuer: Issuer, token: string) => shown(await issuer.identify(token));
const seconds = () => Math.floor(clock.now() / 1_000);

test('takes a token of its issuer, with the name, the groups and the end that it has', async () => {
  const issuer = issuerWith();
  const found = await issuer.identify(server.token({ sub: 'alice', groups: ['ops', 'dev', 'ops'], exp: seconds() + 60 }));
  expect(found).toMatchObject({
    result: 'known',
    session: {
      expiresAtMs: (seconds() + 60) * 1_000,
      check: undefined,
      caller: { user: { user: 'oidc:alice', groups: ['oidc:dev', 'oidc:ops'], extra: {}, issuer: server.url } },
    },
  });
});

test.each<[string, () => string, string]>([
  ['RS256', () => server.token({ sub: 'a' }), 'oidc:a'],
  ['ES256', () => server.token({ sub: 'a' }, { kid: 'ec' }), 'oidc:a'],
  ['one audience of several', () => server.token({ sub: 'a', aud: ['x', 'muster'] }), 'oidc:a'],
  ['a token that ended 29 s ago', () => server.token({ sub: 'a', exp: seconds() - 29 }), 'oidc:a'],
  ['a token of the next 29 s', () => server.token({ sub: 'a', nbf: seconds() + 29 }), 'oidc:a'],
  ['a group as text', () => server.token({ sub: 'a', groups: 'dev' }), 'oidc:a oidc:dev'],
  ['empty groups', () => server.token({ sub: 'a', groups: ['', 'dev'] }), 'oidc:a oidc:dev'],
  [
    'a name of Kubernetes behind a prefix',
    () => server.token({ sub: 'system:admin', groups: 'system:masters' }),
    'oidc:system:admin oidc:system:masters',
  ],
])('accepts %s', async (_, token, name) => {
  expect(await who(issuerWith(), token())).toBe(name);
});

const thief = generateKeyPairSync('rsa', { modulusLength: 2048 });
const rs256 = { alg: 'RS256', kid: 'rsa', typ: 'JWT' };
const standard = (): TestClaims => ({ iss: server.url, aud: 'muster', sub: 'a', exp: seconds() + 600 });

test.each<[string, () => string, string]>([
  ['no signature', () => signToken({ ...rs256, alg: 'none' }, standard(), () => ''), 'algorithm'],
  ['no signature, in other letters', () => signToken({ ...rs256, alg: 'nOnE' }, standard(), () => ''), 'algorithm'],
  [
    'the public key as a secret',
    () => signToken({ ...rs256, alg: 'HS256' }, standard(), (text) => createHmac('sha256', server.publicKey('rsa')).update(text).digest()),
    'algorithm',
  ],
  ['the key of another', () => signToken(rs256, standard(), thief.privateKey), 'signature'],
  [
    'a key that the token brings along',
    () => signToken({ ...rs256, jwk: thief.publicKey.export({ format: 'jwk' }) }, standard(), thief.privateKey),
    'signature',
  ],
  ['another algorithm than that of the key', () => signToken({ ...rs256, alg: 'ES256' }, standard(), server.privateKey('rsa')), 'key'],
  ['an unknown critical header', () => signToken({ ...rs256, crit: ['odd'], odd: 1 }, standard(), server.privateKey('rsa')), 'malformed'],
  ['another audience', () => server.token({ sub: 'a', aud: 'other' }), 'audience'],
  ['no audience', () => server.token({ sub: 'a', aud: undefined }), 'audience'],
  ['an end 31 s ago', () => server.token({ sub: 'a', exp: seconds() - 31 }), 'expired'],
  ['no end', () => server.token({ sub: 'a', exp: undefined }), 'claims'],
  ['an end that is no number', () => server.token({ sub: 'a', exp: 'never' }), 'claims'],
  ['a start in 31 s', () => server.token({ sub: 'a', nbf: seconds() + 32 }), 'early'],
  ['another issuer', () => server.token({ sub: 'a', iss: `${server.url}/` }), 'issuer'],
  ['no name', () => server.token({}), 'claims'],
  ['an empty name', () => server.token({ sub: '' }), 'claims'],
  ['a name that is no text', () => server.token({ sub: 7 }), 'claims'],
  ['a name with a line break', () => server.token({ sub: 'a\nImpersonate-Group: x' }), 'claims'],
  ['a group that is no text', () => server.token({ sub: 'a', groups: ['x', 1] }), 'claims'],
  ['groups that are no list', () => server.token({ sub: 'a', groups: { x: 1 } }), 'claims'],
  ['half a token', () => server.token({ sub: 'a' }).split('.').slice(0, 2).join('.'), 'malformed'],
])('refuses %s', async (_, token, reason) => {
  expect(await who(issuerWith(), token())).toBe(reason);
});

describe('claims and prefixes of the config', () => {
  test('an empty prefix gives plain names, but none of Kubernetes', async () => {
    const issuer = issuerWith({ usernamePrefix: '', groupsPrefix: '' });
    expect(await who(issuer, server.token({ sub: 'alice', groups: ['ops'] }))).toBe('alice ops');
    expect(await who(issuer, server.token({ sub: 'system:admin' }))).toBe('name');
    expect(await who(issuer, server.token({ sub: 'alice', groups: ['ops', 'system:masters'] }))).toBe('name');
  });

  test('a prefix and a name together may not make a name of Kubernetes', async () => {
    expect(await who(issuerWith({ usernamePrefix: 'sys' }), server.token({ sub: 'tem:admin' }))).toBe('name');
  });

  test('other claims, and only those that the token itself has', async () => {
    const issuer = issuerWith({ usernameClaim: 'email', groupsClaim: 'roles' });
    expect(await who(issuer, server.token({ email: 'a@example.com', roles: ['x'] }))).toBe('oidc:a@example.com oidc:x');
    expect(await who(issuer, server.token({ email: 'a@example.com', email_verified: true }))).toBe('oidc:a@example.com');
    expect(await who(issuer, server.token({ email: 'a@example.com', email_verified: false }))).toBe('claims');
    expect(await who(issuer, server.token({ email: 'a@example.com', email_verified: 'false' }))).toBe('claims');
    expect(await who(issuerWith({ usernameClaim: 'constructor' }), server.token({ sub: 'a' }))).toBe('claims');
  });

  test('only the algorithms of the config', async () => {
    const issuer = issuerWith({ algorithms: ['ES256'] });
    expect(await who(issuer, server.token({ sub: 'a' }, { kid: 'ec' }))).toBe('oidc:a');
    expect(await who(issuer, server.token({ sub: 'a' }))).toBe('algorithm');
    server.addKey('ed', 'EdDSA');
    expect(await who(issuerWith(), server.token({ sub: 'a' }, { kid: 'ed' }))).toBe('oidc:a');
  });
});

describe('keys', () => {
  test('a token without a key id is tried with each key that fits', async () => {
    server.addKey('second', 'RS256');
    const token = signToken({ alg: 'RS256' }, standard(), server.privateKey('second'));
    expect(await who(issuerWith(), token)).toBe('oidc:a');
    expect(await who(issuerWith(), signToken({ alg: 'RS256' }, standard(), thief.privateKey))).toBe('signature');
  });

  test('an unknown key has the keys fetched at most once in 30 s', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const issuer = issuerWith();
    await who(issuer, server.token({ sub: 'a' }));
    const before = server.keyRequests();
    server.addKey('next', 'RS256');
    for (let i = 0; i < 30; i++)
      expect(await who(issuer, signToken({ ...rs256, kid: `flood-${i}` }, standard(), thief.privateKey))).toBe('key');
    expect(server.keyRequests()).toBe(before);
    vi.setSystemTime(Date.now() + 31_000);
    expect(await who(issuer, server.token({ sub: 'a' }, { kid: 'next' }))).toBe('oidc:a');
    for (let i = 0; i < 30; i++) await who(issuer, signToken({ ...rs256, kid: `flood-${i}` }, standard(), thief.privateKey));
    expect(server.keyRequests()).toBe(before + 1);
  });

  test('a withdrawn key stops counting after 10 minutes, also if nobody shows another', async () => {
    const issuer = issuerWith();
    const token = (exp: number) => server.token({ sub: 'a', exp: seconds() + exp }, { kid: 'ec' });
    expect(await who(issuer, token(3_600))).toBe('oidc:a');
    const early = token(3_601);
    server.removeKey('ec');
    expect(await who(issuer, early)).toBe('oidc:a');
    await clock.advance(600_000);
    expect(await who(issuer, early)).toBe('key');
  });

  test('while the issuer is away, known keys count, and others cannot be checked (B19)', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const issuer = issuerWith();
    expect(await who(issuer, server.token({ sub: 'a' }))).toBe('oidc:a');
    await server.leave();
    await clock.advance(3_600_000);
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(await who(issuer, server.token({ sub: 'b' }))).toBe('oidc:b');
    server.addKey('next', 'RS256');
    expect(await who(issuer, server.token({ sub: 'c' }, { kid: 'next' }))).toBe('unavailable');
    await server.comeBack();
    await clock.advance(30_000);
    expect(await who(issuer, server.token({ sub: 'c' }, { kid: 'next' }))).toBe('oidc:c');
  });

  test('an issuer that is away at the start, or answers with nonsense, is asked again', async () => {
    await server.leave();
    const issuer = issuerWith();
    expect(await who(issuer, server.token({ sub: 'a' }))).toBe('unavailable');
    await server.comeBack();
    await clock.advance(2_000);
    for (const discovery of [
      { issuer: `${server.url}/`, jwks_uri: `${server.url}/keys` },
      { issuer: server.url, jwks_uri: 'http://127.0.0.1/keys' },
      [],
    ]) {
      server.discovery = discovery;
      expect(await who(issuer, server.token({ sub: 'a' }))).toBe('unavailable');
      await clock.advance(2_000);
    }
    server.discovery = undefined;
    expect(await who(issuer, server.token({ sub: 'a' }))).toBe('oidc:a');
  });

  test('an issuer whose certificate is of another authority is not believed', async () => {
    await writeFile(path.join(folder, 'ca.pem'), createAuthority('other').ca);
    const issuer = issuerWith();
    expect(await who(issuer, server.token({ sub: 'a' }))).toBe('unavailable');
    // The file is read for each fetch.
    await writeFile(path.join(folder, 'ca.pem'), authority.ca);
    await clock.advance(2_000);
    expect(await who(issuer, server.token({ sub: 'a' }))).toBe('oidc:a');
  });
});

test('a result counts for 10 s, and never beyond the end of the token and its leeway', async () => {
  const issuer = issuerWith();
  const token = server.token({ sub: 'a', exp: seconds() + 1 });
  const first = await issuer.identify(token);
  expect(issuer.identify(token)).toBe(first);
  await clock.advance(9_999);
  expect(issuer.identify(token)).toBe(first);
  await clock.advance(1);
  const second = issuer.identify(token);
  expect(second).toBeInstanceOf(Promise);
  expect(issuer.identify(token), 'one check for all').toBe(second);
  expect(shown(await second)).toBe('oidc:a');
  await clock.advance(9_500);
  clock.jump(20_000);
  expect(await who(issuer, token)).toBe('expired');
});
