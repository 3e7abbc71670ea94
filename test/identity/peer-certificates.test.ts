import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import type { PeerCertificate } from '../../src/identity/authenticator.ts';
import { PeerCertificates } from '../../src/identity/peer-certificates.ts';
import { type Authority, createAuthority } from '../support/identity/authority.ts';

// TLS itself, and certificates that it does not accept, are in test/serve/callers/tls-callers.test.ts.

const clients = createAuthority('clients');
const proxies = createAuthority('proxies');
const proxy = { caFile: 'p', allowedNames: ['front', 'back'], userHeader: 'X-Remote-User', groupHeader: 'X-Remote-Group' };
let nowMs = Date.now();
let authorities = { clients: [new X509Certificate(clients.ca)], proxies: [new X509Certificate(proxies.ca)] };
const peers = new PeerCertificates({ authorities: () => authorities, proxy, now: () => nowMs });

function certificateOf(authority: Authority, cn: string | readonly string[], organizations: readonly string[] = []): PeerCertificate {
  const commonNames = typeof cn === 'string' ? [cn] : cn;
  const { cert } = authority.issue({ cn: commonNames[0] ?? '', groups: organizations });
  const der = new X509Certificate(cert);
  return { commonNames, organizations, chain: [der.raw], expiresAtMs: der.validToDate.getTime() };
}

/** The user and groups, the reason of a refusal, or undefined if the certificate does not count. */
function who(certificate: PeerCertificate | undefined, headers: Readonly<Record<string, readonly string[]>> = {}): unknown {
  const found = peers.identify({
    authorization: undefined,
    network: 'home',
    certificate,
    headerValues: (name) => headers[name.toLowerCase()] ?? [],
  });
  if (found?.result === 'known')
    return [found.session.caller.user?.issuer, found.session.caller.user?.user, ...(found.session.caller.user?.groups ?? [])];
  return found?.result === 'unknown' ? `${found.method} ${found.reason}` : undefined;
}

test('the common name is the user, each organization a group', () => {
  expect(who(certificateOf(clients, 'pat', ['plant', 'ops']))).toEqual(['certificate', 'pat', 'ops', 'plant']);
  expect(who(undefined)).toBeUndefined();
});

test.each<[string, PeerCertificate]>([
  ['a user of Kubernetes', certificateOf(clients, 'system:admin')],
  ['a group of Kubernetes', certificateOf(clients, 'pat', ['system:masters'])],
])('%s refuses the whole certificate', (_, certificate) => {
  expect(who(certificate)).toBe('certificate name');
});

test('a certificate with two names, or none, is refused', () => {
  expect(who(certificateOf(clients, ['pat', 'bob']))).toBe('certificate claims');
  expect(who({ ...certificateOf(clients, 'pat'), commonNames: [] })).toBe('certificate claims');
});

test('a certificate of another authority of the same name does not count, nor one that is out of date', () => {
  expect(who(certificateOf(createAuthority('clients'), 'pat'))).toBeUndefined();
  const pat = certificateOf(clients, 'pat');
  nowMs = pat.expiresAtMs;
  expect(who(pat)).toBeUndefined();
  nowMs = Date.now();
  expect(who(pat)).toEqual(['certificate', 'pat']);
});

test('an authority that was removed no longer counts, also for open connections', () => {
  const pat = certificateOf(clients, 'pat');
  expect(who(pat)).toEqual(['certificate', 'pat']);
  const before = authorities;
  authorities = { ...before, clients: [] };
  expect(who(pat)).toBeUndefined();
  authorities = before;
});

test('a proxy names callers in headers: the groups in several headers, or with commas', () => {
  const front = certificateOf(proxies, 'front');
  expect(who(front, { 'x-remote-user': ['pat'] })).toEqual(['proxy', 'pat']);
  expect(who(front, { 'x-remote-user': [' pat '], 'x-remote-group': ['plant, ops', 'dev', ''] })).toEqual([
    'proxy',
    'pat',
    'dev',
    'ops',
    'plant',
  ]);
  expect(who(front, { 'x-remote-user': [Buffer.from('Zoë').toString('latin1')] })).toEqual(['proxy', 'Zoë']);
});

test.each<[string, Readonly<Record<string, readonly string[]>>, string]>([
  ['nobody', {}, 'proxy missing'],
  ['an empty name', { 'x-remote-user': [''] }, 'proxy claims'],
  ['two users', { 'x-remote-user': ['pat', 'bob'] }, 'proxy claims'],
  ['a name that is not UTF-8', { 'x-remote-user': ['\xff'] }, 'proxy claims'],
  ['a group that is not UTF-8', { 'x-remote-user': ['pat'], 'x-remote-group': ['\xff'] }, 'proxy claims'],
  ['a user of Kubernetes', { 'x-remote-user': ['system:admin'] }, 'proxy name'],
  ['a group of Kubernetes', { 'x-remote-user': ['pat'], 'x-remote-group': ['ops,system:masters'] }, 'proxy name'],
])('a proxy that names %s is refused', (_, headers, reason) => {
  expect(who(certificateOf(proxies, 'front'), headers)).toBe(reason);
});

test('headers of a connection without a certificate of a proxy are not looked at', () => {
  const headers = { 'x-remote-user': ['bob'], 'x-remote-group': ['plant'] };
  expect(who(undefined, headers)).toBeUndefined();
  expect(who(certificateOf(proxies, 'other'), headers)).toBeUndefined();
  expect(who(certificateOf(createAuthority('proxies'), 'front'), headers)).toBeUndefined();
  expect(who(certificateOf(clients, 'front'), headers)).toEqual(['certificate', 'front']);
  expect(who(certificateOf(clients, 'pat'), headers)).toEqual(['certificate', 'pat']);
});
