import { expect, test } from 'vitest';
import type { LiveAnswer, LiveRequest } from '../../src/cluster/cluster-api.ts';
import { fault } from '../../src/core/faults.ts';
import type { Json } from '../../src/core/json.ts';
import { clusterName } from '../../src/core/names.ts';
import type { Identification } from '../../src/identity/authenticator.ts';
import { type TokenReviewer, TokenReviews } from '../../src/identity/token-reviews.ts';
import { createManualClock, turns } from '../support/manual-clock.ts';

const account = 'system:serviceaccount:shop:builder';
const accountGroups = ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'];
const accepted = (user: Json, audiences: Json = ['muster']): Json => ({ authenticated: true, user, audiences });
const builder = { username: account, uid: 'u-1', groups: accountGroups };

/** A hub whose answers the test decides. `undefined`: the hub does not answer. */
class FakeHub implements TokenReviewer {
  readonly cluster = clusterName('hub');
  readonly requests: LiveRequest[] = [];
  readonly waiting: (() => void)[] = [];
  answer: (token: string) => Json | undefined = () => ({ authenticated: false });
  holds = false;

  async send(request: LiveRequest): Promise<LiveAnswer> {
    this.requests.push(request);
    if (this.holds) await new Promise<void>((resolve) => this.waiting.push(resolve));
    const { spec } = request.body as { spec: { token: string } };
    const status = this.answer(spec.token);
    if (status === undefined)
      return { type: 'failed', fault: fault('UNREACHABLE', 'no connection', { cluster: this.cluster, retry: 'LATER' }) } as LiveAnswer;
    const review = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', metadata: {}, spec, status };
    return { type: 'answered', status: 201, body: Buffer.from(JSON.stringify(review)) } as unknown as LiveAnswer;
  }
}

function world() {
  const hub = new FakeHub();
  const clock = createManualClock();
  const end = new AbortController();
  let isMember = true;
  const all = new TokenReviews({ audiences: ['muster'], hub: () => (isMember ? hub : undefined), clock }, end.signal);
  const reviews = { identify: (token: string, network = 'home') => all.identify({ token, network }) };
  const leave = () => {
    isMember = false;
  };
  return { hub, clock, reviews, leave };
}
const tokenOf = ({ body }: LiveRequest) => (body as { spec: { token: string } }).spec.token;
const shown = (found: Identification): unknown =>
  found.result === 'known' ? found.session.caller.user : found.result === 'unknown' ? found.reason : found.problem;

test('reviews a token with our audiences, and leaves out the groups and values that the API server adds to an account', async () => {
  const { hub, reviews } = world();
  const extra = {
    'authentication.kubernetes.io/pod-name': ['p'],
    'authentication.kubernetes.io/credential-id': ['JTI=1'],
    'example.com/team': ['a'],
  };
  hub.answer = () => accepted({ ...builder, extra });
  expect(shown(await reviews.identify('t'))).toEqual({
    user: account,
    uid: 'u-1',
    groups: [],
    extra: { 'example.com/team': ['a'] },
    issuer: 'tokenreview',
  });
  expect(hub.requests).toMatchObject([
    {
      method: 'POST',
      path: ['apis', 'authentication.k8s.io', 'v1', 'tokenreviews'],
      body: { spec: { token: 't', audiences: ['muster'] } },
    },
  ]);
});

test('two tokens of one account are one caller, an account that was made again is another', async () => {
  const { hub, reviews } = world();
  const keyOf = async (token: string) => {
    const found = await reviews.identify(token);
    return found.result === 'known' ? found.session.caller.key : undefined;
  };
  hub.answer = (token) =>
    accepted({ ...builder, uid: token === 'third' ? 'u-2' : 'u-1', extra: { 'authentication.kubernetes.io/credential-id': [token] } });
  expect(await keyOf('first')).toBe(await keyOf('second'));
  expect(await keyOf('first')).not.toBe(await keyOf('third'));
});

test.each<[string, Json, string]>([
  ['a token that the hub does not accept', { authenticated: false, error: 'no' }, 'rejected'],
  ['a token of another audience', accepted(builder, ['other']), 'audience'],
  ['an answer without audiences', { authenticated: true, user: builder }, 'audience'],
  ['an answer without a user', { authenticated: true, audiences: ['muster'] }, 'rejected'],
  ['no name', accepted({ username: '', groups: [] }), 'claims'],
  ['another name of Kubernetes', accepted({ username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] }), 'name'],
  ['nearly an account', accepted({ username: 'system:serviceaccount:shop', groups: [] }), 'name'],
  ['an account in a group of Kubernetes', accepted({ ...builder, groups: [...accountGroups, 'system:masters'] }), 'name'],
])('refuses %s', async (_, status, reason) => {
  const { hub, reviews } = world();
  hub.answer = () => status;
  expect(shown(await reviews.identify('t'))).toBe(reason);
});

test('accepts users that the hub authenticates in other ways, with their groups', async () => {
  const { hub, reviews } = world();
  hub.answer = () => accepted({ username: 'jane', groups: ['ops', 'system:authenticated'] });
  expect(shown(await reviews.identify('t'))).toEqual({ user: 'jane', groups: ['ops'], extra: {}, issuer: 'tokenreview' });
});

test('remembers both answers for 10 s, and asks once for calls at the same time', async () => {
  const { hub, reviews, clock } = world();
  hub.answer = (token) => (token === 'good' ? accepted(builder) : { authenticated: false });
  const first = await Promise.all(['good', 'bad', 'good', 'bad'].map((token) => reviews.identify(token)));
  expect(first.map(({ result }) => result)).toEqual(['known', 'unknown', 'known', 'unknown']);
  expect(hub.requests).toHaveLength(2);
  await clock.advance(9_999);
  await Promise.all(['good', 'bad'].map((token) => reviews.identify(token)));
  expect(hub.requests).toHaveLength(2);
  await clock.advance(1);
  hub.answer = () => ({ authenticated: false });
  expect((await reviews.identify('good')).result).toBe('unknown');
});

test('a token is not accepted after its own end', async () => {
  const { hub, reviews, clock } = world();
  const exp = Math.floor(clock.now() / 1_000) + 3;
  const token = jwt({ exp });
  hub.answer = () => accepted(builder);
  expect(await reviews.identify(token)).toMatchObject({ session: { expiresAtMs: exp * 1_000 } });
  hub.answer = () => ({ authenticated: false });
  await clock.advance(3_000);
  expect((await reviews.identify(token)).result).toBe('unknown');
});

test('a hub that does not answer, or is not there, makes tokens uncheckable, and nothing is remembered', async () => {
  const { hub, reviews, leave } = world();
  hub.answer = () => undefined;
  expect(shown(await reviews.identify('t'))).toBe('the hub hub does not review tokens: no connection');
  hub.answer = () => accepted(builder);
  expect((await reviews.identify('t')).result).toBe('known');
  leave();
  expect(shown(await reviews.identify('u'))).toBe('the hub is not in the fleet');
});

/** Lets the hub answer everything that it holds, until it holds nothing more. */
async function release(hub: FakeHub): Promise<void> {
  for (await turns(); hub.waiting.length > 0; await turns()) for (const go of hub.waiting.splice(0)) go();
}
const jwt = (claims: object) => ['{}', JSON.stringify(claims), 'x'].map((part) => Buffer.from(part).toString('base64url')).join('.');

test('junk of one network takes 5 reviews at a time, and does not keep a token of another network waiting', async () => {
  const { hub, reviews } = world();
  hub.holds = true;
  hub.answer = (token) => (token === 'good' ? accepted(builder) : { authenticated: false });
  const junk = Array.from({ length: 1_005 }, (_, i) => Promise.resolve(reviews.identify(`t-${i}`, 'bad')));
  await turns();
  expect(hub.requests).toHaveLength(5);
  expect(shown(await reviews.identify('one more', 'bad'))).toBe('too many tokens wait for a review');
  const good = reviews.identify('good', 'other');
  await turns();
  expect(hub.requests.map(tokenOf).at(-1)).toBe('good');
  await release(hub);
  expect((await good).result).toBe('known');
  const results = (await Promise.all(junk)).map(shown);
  expect(new Set(results)).toEqual(new Set(['rejected', 'too many tokens of this network were refused']));
  expect(hub.requests.length, 'the burst of 200, those in flight with its last, and the good one').toBeLessThanOrEqual(206);
});

test('the tokens of many networks wait for at most 10 reviews, and a token that was accepted before does not wait for them', async () => {
  const { hub, reviews, clock } = world();
  hub.answer = (token) => (token === 'good' ? accepted(builder) : { authenticated: false });
  expect((await reviews.identify('good', 'home')).result).toBe('known');
  await clock.advance(10_000);
  hub.holds = true;
  const junk = Array.from({ length: 3_000 }, (_, i) => Promise.resolve(reviews.identify(`t-${i}`, `bad-${i % 10}`)));
  await turns();
  expect(hub.requests).toHaveLength(1 + 10);
  const good = reviews.identify('good', 'bad-1');
  await turns();
  expect(hub.requests.map(tokenOf).at(-1)).toBe('good');
  await release(hub);
  expect((await good).result).toBe('known');
  await Promise.all(junk);
});

test('refused tokens displace no accepted ones', async () => {
  const { hub, reviews } = world();
  hub.answer = (token) => (token === 'good' ? accepted(builder) : { authenticated: false });
  await reviews.identify('good');
  for (let i = 0; i < 11_000; i++) await reviews.identify(`t-${i}`, `bad-${i}`);
  hub.requests.length = 0;
  expect(reviews.identify('good')).toMatchObject({ result: 'known' });
  expect(hub.requests).toEqual([]);
});

test('after 200 refused tokens of a network, 20 more are reviewed per second', async () => {
  const { hub, reviews, clock } = world();
  for (let i = 0; i < 250; i++) await reviews.identify(`t-${i}`, 'bad');
  expect(hub.requests).toHaveLength(200);
  expect(shown(await reviews.identify('t-1', 'bad')), 'a remembered answer costs nothing').toBe('rejected');
  await clock.advance(1_000);
  for (let i = 0; i < 50; i++) await reviews.identify(`u-${i}`, 'bad');
  expect(hub.requests).toHaveLength(220);
});

test('a JWT that is out of date, or of the future, is refused without a review; a token that is no JWT is reviewed', async () => {
  const { hub, reviews, clock } = world();
  const nowSeconds = Math.floor(clock.now() / 1_000);
  expect(shown(await reviews.identify(jwt({ exp: nowSeconds - 31 })))).toBe('expired');
  expect(shown(await reviews.identify(jwt({ nbf: nowSeconds + 31 })))).toBe('early');
  expect(hub.requests).toEqual([]);
  for (const token of [jwt({ exp: nowSeconds - 29 }), jwt({ nbf: nowSeconds + 29 }), jwt({}), 'opaque', 'a.b.c'])
    expect(shown(await reviews.identify(token))).toBe('rejected');
  expect(hub.requests).toHaveLength(5);
});

test('a session can be checked again: the same user, a revoked token, a user with other groups', async () => {
  const { hub, reviews, clock } = world();
  hub.answer = () => accepted({ username: 'jane', groups: ['ops'] });
  const found = await reviews.identify('t');
  const check = async () => {
    await clock.advance(10_000);
    return found.result === 'known' ? found.session.check?.() : undefined;
  };
  expect(await check()).toBe('known');
  hub.answer = () => undefined;
  expect(await check()).toBe('unavailable');
  hub.answer = () => accepted({ username: 'jane', groups: [] });
  expect(await check()).toBe('unknown');
  hub.answer = () => ({ authenticated: false });
  expect(await check()).toBe('unknown');
});
