import { expect, test, vi } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { Json } from '../../src/core/json.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { bindingOf, roleOf, ruleOf } from '../access/reviewed/access-world.ts';
import { LiveSocket } from '../support/clients/live-socket.ts';
import { testOnRbacGrounds } from '../support/gateway/rbac-grounds.ts';
import { runSharedGateway } from '../support/gateway/run-shared-gateway.ts';
import { startSimCluster } from '../support/sim/start-sim-cluster.ts';

// Two callers of one gateway never get the answers, the rights or the knowledge of each other, on the embedded fleet and on a real API server.

const namespace = (name: string): KubernetesObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const configMap = (space: string, name: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: space, labels: { team: space } },
  data: { of: space },
});
const all = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/** The user ann may do everything with ConfigMaps in `shop`, and ben in `bank`. The user zed has no right at all. */
const objects: readonly KubernetesObject[] = [
  ...['shop', 'bank'].map(namespace),
  ...['a', 'b', 'c'].map((name) => configMap('shop', name)),
  ...['hidden', 'rates'].map((name) => configMap('bank', name)),
  roleOf(undefined, 'editor', ruleOf(all, [''], ['configmaps'])),
  bindingOf('shop', 'ann', 'ClusterRole/editor', 'User/oidc:ann'),
  bindingOf('bank', 'ben', 'ClusterRole/editor', 'User/oidc:ben'),
];

const idOf = (...parts: readonly string[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
/** The text without the id of the request, and without positions, which depend on the length of a name. */
const comparable = (text: string) => text.replace(/"requestId":"[^"]*"|"locations":\[[^\]]*\]/g, '');

/** Operations that name one object. ann may not see it, or it does not exist. */
const ofObject: readonly ((cluster: string, space: string, name: string) => string)[] = [
  (c, s, n) => `{ configMap(cluster: "${c}", namespace: "${s}", name: "${n}") { id } }`,
  (c, s, n) => `{ configMap(cluster: "${c}", namespace: "${s}", name: "${n}", live: true) { id } }`,
  (c, s, n) => `{ resource(id: "${idOf(c, '', 'ConfigMap', s, n, '2f1c5a0e-6a3c-4f64-9a3b-000000000000')}") { id } }`,
  (c, s, n) => `{ resource(id: "${idOf(c, '', 'ConfigMap', s, n, '2f1c5a0e-6a3c-4f64-9a3b-000000000000')}", live: true) { id } }`,
  (c, s, n) =>
    `{ configMaps(clusters: "${c}", namespaces: "${s}", where: { path: "metadata.name", eq: "${n}" }) { totalCount faults { code } } }`,
  (c, s, n) => `{ resources(clusters: "${c}", namespaces: "${s}", kinds: ["ConfigMap"], search: "${n}") { totalCount faults { code } } }`,
  ...['delete(', 'restart(', 'scale(replicas: 2, ', 'patch(type: MERGE, patch: { data: { a: "b" } }, '].flatMap((field) =>
    [true, false].map((dryRun) => (c: string, s: string, n: string) => {
      const target = `{ ref: { cluster: "${c}", apiVersion: "v1", kind: "ConfigMap", namespace: "${s}", name: "${n}" } }`;
      return `mutation { ${field}targets: [${target}], dryRun: ${dryRun}) { ok results { action diff fault { code message status { reason message } } } } }`;
    }),
  ),
  (c, s, n) => {
    const json = `{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "${n}", namespace: "${s}" } }`;
    return `mutation { apply(clusters: "${c}", dryRun: true, manifests: [{ json: ${json} }]) { results { action diff fault { code message status { reason message } } } } }`;
  },
];

/** Operations that name a cluster. zed may not see it, or it does not exist. */
const ofCluster: readonly ((cluster: string) => string)[] = [
  (c) => `{ cluster(name: "${c}") { name } clusters(names: ["${c}"]) { name } }`,
  (c) => `{ configMaps(clusters: "${c}") { totalCount faults { code message } sync { phase } } }`,
  (c) => `{ configMap(cluster: "${c}", namespace: "shop", name: "a", live: true) { id } }`,
  (c) => `{ canI(clusters: "${c}", verb: "get", kind: "ConfigMap") { allowed } }`,
  (c) => `{ podLogs(clusters: "${c}", namespaces: "shop") { fault { code message } } }`,
  (c) => `{ resource(id: "${idOf(c, '', 'ConfigMap', 'shop', 'a', '2f1c5a0e-6a3c-4f64-9a3b-000000000000')}", live: true) { id } }`,
  (c) => `{ importFromCluster(cluster: "${c}") { notes { code } } }`,
  (c) => {
    const target = `{ ref: { cluster: "${c}", apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "a" } }`;
    return `mutation { delete(targets: [${target}]) { results { fault { code message } } } }`;
  },
];

testOnRbacGrounds('E3: hidden objects and clusters get the answers of those that do not exist', objects, async ({ context, reach }) => {
  await using gateway = await runSharedGateway(reach);
  await gateway.firstCluster('ann');
  const textOf = async (user: string, query: string, secret: string) =>
    comparable((await gateway.ask(user, query)).text).replaceAll(secret, 'NAME');
  for (const query of ofObject) {
    const absent = await textOf('ann', query(context, 'bank', 'absent'), 'absent');
    expect(await textOf('ann', query(context, 'bank', 'hidden'), 'hidden')).toBe(absent);
    // A namespace that is hidden is like one that does not exist.
    expect((await textOf('ann', query(context, 'none', 'hidden'), 'hidden')).replaceAll('none', 'bank')).toBe(absent);
  }
  for (const query of ofCluster) expect(await textOf('zed', query(context), context)).toBe(await textOf('zed', query('moon'), 'moon'));
  expect((await gateway.ask('ben', ofObject[0]?.(context, 'bank', 'hidden') ?? '')).text).toContain('"id"');
});

testOnRbacGrounds('P15: two users that reconnect in turns act as themselves each time', objects, async ({ context, reach }) => {
  await using gateway = await runSharedGateway(reach);
  for (const user of ['ann', 'ben']) await gateway.firstCluster(user);
  const apply = (space: string, name: string) => {
    const json = `{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "${name}", namespace: "${space}" }, data: { of: "${name}" } }`;
    return `mutation { apply(clusters: "${context}", manifests: [{ json: ${json} }]) { results { action fault { code } } } }`;
  };
  const spaces = { ann: 'shop', ben: 'bank' } as const;
  const visit = async (user: keyof typeof spaces, round: number) => {
    const socket = await LiveSocket.open(gateway.url, gateway.as(user));
    const answers = ['{ whoami { name } }', apply('shop', `${user}-${round}`), apply('bank', `${user}-${round}`)].map((query) =>
      socket.start(query),
    );
    await vi.waitFor(() => expect(answers.every(({ completed }) => completed)).toBe(true), 20_000);
    socket.close();
    const [name, ...written] = answers.map(({ seen }) => seen[0]?.data as Record<string, Json>);
    expect(name).toEqual({ whoami: { name: `oidc:${user}` } });
    const outcomes = ['shop', 'bank'].map((space) => ({
      action: space === spaces[user] ? 'CREATED' : 'FAILED',
      fault: space === spaces[user] ? null : { code: 'FORBIDDEN' },
    }));
    expect(written).toEqual(outcomes.map((outcome) => ({ apply: { results: [outcome] } })));
  };
  for (let round = 0; round < 5; round++) await Promise.all([visit('ann', round), visit('ben', round)]);
});

testOnRbacGrounds('P16: two requests that differ in one parameter share no answer', objects, async ({ context, reach }) => {
  await using gateway = await runSharedGateway(reach);
  for (const user of ['ann', 'ben']) await gateway.firstCluster(user);
  const list = 'configMaps(where: { path: "metadata.name", in: ["a", "b", "c", "hidden", "rates"] }';
  const documents = [
    '',
    ', first: 1',
    ', first: 2',
    ', namespaces: "shop"',
    ', namespaces: "bank"',
    ', labels: "team=bank"',
    ', search: "b"',
  ]
    .map((more) => `{ ${list}${more}) { totalCount items { metadata { namespace name } } } }`)
    .concat(
      `{ ${list}, orderBy: [{ path: "metadata.name", direction: DESC }]) { items { metadata { name } } } }`,
      ...['a', 'b', 'hidden'].flatMap((name) =>
        ['shop', 'bank'].flatMap((space) =>
          [false, true].map(
            (live) =>
              `{ configMap(cluster: "${context}", namespace: "${space}", name: "${name}", live: ${live}) { metadata { namespace name } data } }`,
          ),
        ),
      ),
    );
  const asked = ['ann', 'ben'].flatMap((user) => documents.map((query) => ({ user, query })));
  const alone: string[] = [];
  for (const { user, query } of asked) alone.push((await gateway.ask(user, query)).text);
  const [ofAnn, ofBen] = [alone.slice(0, documents.length), alone.slice(documents.length)];
  // The lists differ from each other, and no answer of ann has anything of `bank`.
  expect(new Set(ofAnn.slice(0, 3)).size).toBe(3);
  expect(ofAnn.join()).not.toMatch(/"namespace":"bank"/);
  expect(ofBen.join()).not.toMatch(/"namespace":"shop"/);
  expect(ofBen.join()).toContain('"namespace":"bank"');
  for (let round = 0; round < 3; round++) {
    // At most 18 operations of one user at a time.
    for (let from = 0; from < documents.length; from += 9) {
      const some = [...asked.entries()].filter(([at]) => at % documents.length >= from && at % documents.length < from + 9);
      const together = await Promise.all(
        some.flatMap(([at, { user, query }]) => [0, 1].map(async () => [at, (await gateway.ask(user, query)).text] as const)),
      );
      for (const [at, text] of together) expect(text).toBe(alone[at]);
    }
  }
});

test('the reason why no gateway leads is hidden from a caller who may see nothing in the hub', async () => {
  const north = await startSimCluster({ name: 'north', authorization: 'rbac' });
  for (const object of objects) north.put(object);
  north.forbid({ resource: 'leases' });
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
  await using gateway = await runSharedGateway({ contexts: [{ name: 'north', cluster: north }], flags: { hub: 'north' }, clock });
  await gateway.firstCluster('ann');
  const problemFor = async (user: string) =>
    (await gateway.ask<{ gateway: { controllerProblem: string | null } }>(user, '{ gateway { controllerProblem } }')).data?.gateway
      .controllerProblem;
  expect(await problemFor('ann')).toBeNull();
  // More than the 30 s after which a missing leader is a problem. No gateway leads without a Lease.
  aheadMs = 40_000;
  await vi.waitUntil(async () => (await problemFor('ann')) !== null, { timeout: 20_000 });
  expect(await problemFor('ann')).toMatch(/^no gateway has led since /);
  expect(await problemFor('zed')).toBeNull();
});
