import { expect, test } from 'vitest';
import { type Audit, type AuditedAction, noAudit } from '../../src/audit/audit.ts';
import type { ObjectClient } from '../../src/changes/object-client.ts';
import type { LiveRequest } from '../../src/cluster/cluster-api.ts';
import { MusterError } from '../../src/core/errors.ts';
import { mergePatch } from '../../src/core/json/merge-patch.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { silentLog } from '../../src/core/log.ts';
import { clusterName } from '../../src/core/names.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import type { ClusterCandidate } from '../../src/fleet/cluster-source.ts';
import { printRegisteredKubeconfig, tokenOfKubeconfig } from '../../src/registration/registered-kubeconfig.ts';
import { renewTokens, type TokenPorts } from '../../src/registration/renew-tokens.ts';
import { renewalMsOf } from '../../src/registration/token-life.ts';
import { createManualClock } from '../support/manual-clock.ts';

const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);
const timeAt = (ms: number) => new Date(start + ms).toISOString();
const base64 = (text: string) => Buffer.from(text).toString('base64');
const kubeconfig = (token: string) => base64(printRegisteredKubeconfig({ server: 'https://south.example.com', token }));

interface WorldOptions {
  readonly annotations?: JsonObject;
  readonly managedBy?: string;
  /** The token that the gateway uses at first. */
  readonly used?: string;
  /** Milliseconds that the clock of the member is behind that of the gateway. Default: 0. */
  readonly memberBehindMs?: number;
  /** Default: lines of the audit can be written. */
  readonly check?: Audit['check'];
  /** Default: true. */
  readonly isMemberAtFirst?: boolean;
}

/** One registered cluster, whose Secret this gateway reads as soon as it changes, and a member that makes tokens. */
function createWorld({
  annotations = {},
  managedBy = 'muster',
  used = 'token-0',
  isMemberAtFirst = true,
  memberBehindMs = 0,
  check = noAudit.check,
}: WorldOptions = {}) {
  const clock = createManualClock({ startMs: start });
  const name = clusterName('south');
  const life = { 'muster.dev/token-issued': timeAt(0), 'muster.dev/token-expires': timeAt(3 * hour) };
  let secret = {
    metadata: {
      ...{ name: 'south', namespace: 'muster-system', uid: 's', resourceVersion: '1' },
      labels: { 'app.kubernetes.io/managed-by': managedBy },
      annotations: { 'muster.dev/token-bound-to': 'muster-member-1', ...life, ...annotations },
    },
    data: { kubeconfig: kubeconfig('token-0') },
  } as KubernetesObject;
  let fails = false;
  let isMember = isMemberAtFirst;
  let onMembers = (_changes: readonly JsonObject[]) => undefined as unknown;
  const onChange = (callback: typeof onMembers) => {
    onMembers = callback;
  };
  let changed: () => void = () => undefined;
  const requests: LiveRequest[] = [];
  const lines: AuditedAction[] = [];
  const tokens = () => requests.length;
  const client = {
    get: async () => ({ result: 'answered', object: secret, isNew: false, warnings: [] }),
    patch: async ({ patch }: { readonly patch: JsonObject }) => {
      expect(patch.metadata).toMatchObject({ uid: 's', resourceVersion: secret.metadata.resourceVersion });
      const next = { ...mergePatch(secret, patch) } as KubernetesObject;
      secret = { ...next, metadata: { ...next.metadata, resourceVersion: `${Number(secret.metadata.resourceVersion) + 1}` } };
      used = usedTokenOf(secret);
      changed();
      return { result: 'answered', object: secret, isNew: false, warnings: [] };
    },
  } as unknown as ObjectClient;
  const send = async (request: LiveRequest) => {
    requests.push(request);
    if (fails) return { type: 'failed', fault: { code: 'FORBIDDEN', cluster: name, message: 'no', retry: 'NEVER' } };
    const spec = (request.body as { readonly spec: { readonly expirationSeconds: number } }).spec;
    const iat = Math.floor((clock.now() - memberBehindMs) / 1_000);
    const exp = iat + spec.expirationSeconds;
    const token = ['{}', JSON.stringify({ iat, exp, jti: `token-${tokens()}` }), ''].map((part) => Buffer.from(part).toString('base64url'));
    const status = { token: token.join('.'), expirationTimestamp: new Date(exp * 1_000).toISOString() };
    const body = Buffer.from(JSON.stringify({ status }));
    return { type: 'answered', status: 201, body };
  };
  const candidate = () =>
    ({ result: 'usable', name, endpoint: { credentials: { type: 'token', token: used } } }) as unknown as ClusterCandidate;
  const ports = {
    hub: {
      cluster: clusterName('north'),
      client: () => client,
      members: { objects: { onChange } },
    },
    systemNamespace: 'muster-system',
    fleet: { roleOf: () => ({ role: 'member' }), member: () => ({ api: { cluster: name, send } }) },
    mirrors: {
      followSecrets: (_cluster: unknown, _namespace: unknown, onChange: () => void) => {
        changed = onChange;
        return { all: () => [secret], get: () => secret, isEnded: () => false, fault: () => undefined };
      },
    },
    registered: () => new Map(isMember ? [[name, candidate()]] : []),
    audit: { ...noAudit, check, record: async (line: AuditedAction) => lines.push(line) },
    clock,
    log: silentLog,
  } as unknown as TokenPorts;
  const term = new AbortController();
  const ended = renewTokens(ports, { signal: term.signal, isLeading: () => !term.signal.aborted });
  return {
    clock,
    requests,
    lines,
    secret: () => secret,
    use: (token: string) => {
      used = token;
    },
    join: () => {
      isMember = true;
      onMembers([{ type: 'cluster', cluster: name }]);
    },
    fail: (isFailing: boolean) => {
      fails = isFailing;
    },
    end: async () => {
      term.abort();
      await clock.advance(0);
      await ended;
    },
  };
}

const usedTokenOf = (secret: KubernetesObject) =>
  tokenOfKubeconfig(Buffer.from((secret.data as { readonly kubeconfig: string }).kubeconfig, 'base64')) ?? '';

/** Returns the name of the token: its `jti`, or the token itself. */
const tokenOf = (secret: KubernetesObject) => {
  const [, payload] = usedTokenOf(secret).split('.');
  return payload === undefined ? usedTokenOf(secret) : (JSON.parse(Buffer.from(payload, 'base64url').toString()).jti as string);
};

test.each([
  ['a third of a long life', 3 * hour, 2 * hour],
  ['20 minutes of a short life', hour / 2, hour / 6],
])('a token is due when %s is left', (_title, lifeMs, dueMs) => {
  expect(renewalMsOf({ issuedMs: 0, expiresMs: lifeMs })).toBe(dueMs);
});

test('the token is renewed when a third of its life is left, bound to the same Secret and with the same life', async () => {
  const world = createWorld();
  await world.clock.advance(2 * hour - 1_000);
  expect(world.requests).toEqual([]);
  await world.clock.advance(2_000);
  expect(world.requests.map(({ path, body }) => [path.slice(-3), (body as JsonObject).spec])).toEqual([
    [
      ['serviceaccounts', 'muster-member', 'token'],
      { expirationSeconds: 10_800, boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'muster-member-1' } },
    ],
  ]);
  expect(tokenOf(world.secret())).toBe('token-1');
  await world.clock.advance(2 * hour + 2_000);
  expect(tokenOf(world.secret())).toBe('token-2');
  await world.end();
});

test.each([
  ['ahead of', 5 * 60_000],
  ['behind', -5 * 60_000],
  ['more than a life ahead of', 5 * hour],
])('the life of a token stays the same at each renewal while our clock is %s that of the member', async (_title, memberBehindMs) => {
  const world = createWorld({ memberBehindMs });
  await world.clock.advance(24 * hour);
  const lives = world.requests.map(
    ({ body }) => (body as { readonly spec: { readonly expirationSeconds: number } }).spec.expirationSeconds,
  );
  expect(new Set(lives)).toEqual(new Set([10_800]));
  expect(lives.length).toBeGreaterThan(10);
  await world.end();
});

test('a failed renewal is repeated after 5 minutes, and the token stays until then', async () => {
  const world = createWorld();
  world.fail(true);
  await world.clock.advance(2 * hour + 4 * 60_000);
  expect([world.requests.length, tokenOf(world.secret())]).toEqual([1, 'token-0']);
  world.fail(false);
  await world.clock.advance(2 * 60_000);
  expect([world.requests.length, tokenOf(world.secret())]).toEqual([2, 'token-2']);
  await world.end();
});

test('a token that this gateway does not use yet is not renewed', async () => {
  const world = createWorld();
  world.use('another');
  await world.clock.advance(2 * hour + 6 * 60_000);
  expect(world.requests).toEqual([]);
  await world.end();
});

test('a token that is due when its cluster joins the fleet is renewed at once', async () => {
  const world = createWorld({ isMemberAtFirst: false, annotations: { 'muster.dev/token-expires': timeAt(hour / 6 - 900) } });
  await world.clock.advance(1_000);
  expect(world.requests).toEqual([]);
  world.join();
  await world.clock.advance(1_000);
  expect(tokenOf(world.secret())).toBe('token-1');
  expect(world.requests[0]?.body).toMatchObject({ spec: { expirationSeconds: 600 } });
  await world.end();
});

test('a Secret that muster join has not made is left alone', async () => {
  const world = createWorld({ managedBy: 'somebody' });
  await world.clock.advance(3 * hour);
  expect(world.requests).toEqual([]);
  await world.end();
});

test('the mark of a new token is removed 5 s after this gateway uses the token', async () => {
  const world = createWorld({ annotations: { 'muster.dev/token-unused': 'true' }, used: 'the old one' });
  const isMarked = () => 'muster.dev/token-unused' in (world.secret().metadata.annotations ?? {});
  await world.clock.advance(10_000);
  expect(isMarked()).toBe(true);
  world.use('token-0');
  await world.clock.advance(4_000);
  expect(isMarked()).toBe(true);
  await world.clock.advance(3_000);
  expect([isMarked(), world.requests]).toEqual([false, []]);
  await world.end();
});

test('each renewal has a line in the audit, and without room for the line no token is made', async () => {
  const world = createWorld();
  await world.clock.advance(2 * hour + 1_000);
  const secret = { cluster: 'north', apiVersion: 'v1', kind: 'Secret', namespace: 'muster-system', name: 'south' };
  expect(world.lines).toEqual([{ caller: { key: 'gateway' }, verb: 'renewToken', objects: [{ ...secret, result: 'CONFIGURED' }] }]);
  await world.end();
  const full = createWorld({ check: () => Promise.reject(new MusterError('UNAVAILABLE', 'the audit is full')) });
  await full.clock.advance(2 * hour + 1_000);
  expect(full.requests).toEqual([]);
  await full.end();
});
