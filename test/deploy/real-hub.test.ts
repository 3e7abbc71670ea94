import { readdir, readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Endpoint } from '../../src/cluster/endpoint.ts';
import { systemClock } from '../../src/core/clock.ts';
import { canonicalJson } from '../../src/core/json/canonical-json.ts';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { silentLog } from '../../src/core/log.ts';
import { clusterName } from '../../src/core/names.ts';
import { createHubStores, type HubStores } from '../../src/propagate/hub/hub-stores.ts';
import type { PropagationWrite } from '../../src/propagate/hub/propagation-store.ts';
import { newShare } from '../../src/propagate/hub/share-document.ts';
import { marks, type Propagation } from '../../src/propagate/model/propagation.ts';
import { parseSpec, printSpec, type SpecDocument } from '../../src/propagate/model/spec.ts';
import { rightDocument } from '../propagate/model/arbitrary-document.ts';
import { createRawClient, type RawAnswer, type RawClient } from '../support/clients/raw-client.ts';
import { type RealCluster, realPrograms, realServerTitle, startRealCluster } from '../support/cluster/real-cluster.ts';
import { createTestMembers } from '../support/propagate/propagation-world.ts';

const never = new AbortController().signal;
const place = { namespace: 'default', name: 'web' };
const propagationsPath = '/apis/muster.dev/v1alpha1/namespaces/default/propagations';

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } };
const right: SpecDocument = { template: [{ json: configMap }], placement: {} };

/** Applies every object of `deploy/crds`, as `kubectl apply` does. */
async function applied(client: RawClient): Promise<readonly number[]> {
  const folder = new URL('../../deploy/crds/', import.meta.url);
  const statuses: number[] = [];
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.yaml')).toSorted()) {
    for (const document of parseAllDocuments(await readFile(new URL(file, folder), 'utf8'))) {
      const { status } = await apply(client, document.toJS());
      statuses.push(status);
    }
  }
  return statuses;
}

const plurals: Readonly<Record<string, string>> = {
  CustomResourceDefinition: 'customresourcedefinitions',
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
};

function apply(client: RawClient, body: { apiVersion: string; kind: string; metadata: { name: string } }): Promise<RawAnswer> {
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const path = `/apis/${body.apiVersion}/${plurals[body.kind]}/${body.metadata.name}?fieldManager=test&force=true&fieldValidation=Strict`;
  return client.send('PATCH', path, { body, headers });
}

function create(client: RawClient, spec: Json, { name = 'tried', dryRun = true } = {}): Promise<RawAnswer> {
  const body = { apiVersion: 'muster.dev/v1alpha1', kind: 'Propagation', metadata: { name }, spec };
  return client.send('POST', `${propagationsPath}?fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`, { body });
}

function written(write: PropagationWrite): Propagation {
  if (write.result !== 'written') throw new Error(`expected a write, got ${JSON.stringify(write)}`);
  return write.propagation;
}

describe.skipIf(realPrograms === undefined)(`the hub on ${realServerTitle}`, () => {
  const life = new AbortController();
  let cluster: RealCluster;
  let client: RawClient;
  let stores: HubStores;
  const stack = new AsyncDisposableStack();

  beforeAll(async () => {
    cluster = stack.use(await startRealCluster());
    client = stack.use(createRawClient(cluster.endpoint));
    expect(await applied(client)).toEqual(Array(8).fill(201));
    await vi.waitFor(async () => expect((await client.get(propagationsPath)).status).toBe(200), 15_000);
    const { url, caPem, certPem = '', keyPem = '' } = cluster.endpoint;
    const data = (pem: string) => ({ type: 'data', data: Buffer.from(pem) }) as const;
    const endpoint: Endpoint = {
      name: clusterName('hub'),
      server: url,
      trust: { type: 'authority', certificates: data(caPem) },
      clientCertificate: { certificate: data(certPem), key: data(keyPem) },
      credentials: { type: 'none' },
      compression: 'off',
    };
    const { members, clientOf, join } = stack.use(createTestMembers({ clock: systemClock, log: silentLog, endpointOf: () => endpoint }));
    join('hub');
    stores = createHubStores({ cluster: endpoint.name, members, client: () => clientOf('hub') }, life.signal);
    await vi.waitFor(() => expect(stores.propagations.unavailability()).toBeUndefined(), 15_000);
  }, 60_000);
  afterAll(async () => {
    life.abort();
    await stack.disposeAsync();
  });

  test('takes our definitions a second time', async () => {
    expect(await applied(client)).toEqual(Array(8).fill(200));
  });

  test.each<[string, JsonObject, string]>([
    ['a field is none', { ...right, plaecment: {} }, 'plaecment'],
    ['there is no template', { placement: {} }, 'spec.template'],
    ['a template is empty', { ...right, template: [] }, 'spec.template'],
    ['a manifest and a text stand side by side', { ...right, template: [{ json: configMap, yaml: 'a: 1' }] }, 'one of json, yaml and ref'],
    ['a manifest has no name', { ...right, template: [{ json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} } }] }, 'metadata.name'],
    ['a Secret stands there', { ...right, template: [{ json: { ...configMap, kind: 'Secret' } }] }, 'by ref only'],
    ['an enum value is none', { ...right, conflict: 'Fight' }, 'ServerSideApply'],
    ['a count is beside All', { ...right, completion: { mode: 'All', count: 2 } }, 'count if mode is Count'],
    [
      'groups stand beside a set',
      { ...right, placement: { clusters: ['a'], affinityGroups: [{ name: 'g', set: {} }] } },
      'either affinityGroups',
    ],
    ['groups have one name', { ...right, placement: { affinityGroups: [1, 2].map(() => ({ name: 'g', set: {} })) } }, 'different names'],
    ['waves have one name', { ...right, rollout: { waves: [{ name: 'a' }, { name: 'a' }] } }, 'different names'],
    ['max is below min', { ...right, replicas: { rules: [{ min: 3, max: 2 }] } }, 'max to be at least min'],
    ['a label is spread by without a key', { ...right, placement: { spread: [{ by: 'label' }] } }, 'label if by is label'],
    ['two groupings are spread by', { ...right, placement: { spread: [{ by: 'region' }, { by: 'zone' }] } }, 'one grouping'],
    ['a toleration has no key', { ...right, placement: { tolerations: [{ value: 'x' }] } }, 'operator Exists without a key'],
    [
      'an overflow is of weights',
      { ...right, placement: { affinityGroups: [{ name: 'g', set: { clusters: ['a'] }, overflow: [{ name: 'o', set: {} }] }] } },
      'an overflow with',
    ],
    ['a strategy is of nothing divided', { ...right, replicas: { strategy: 'Available' } }, 'mode Divided'],
    ['an image gets no value', { ...right, overrides: [{ image: [{ component: 'tag', operator: 'Add' }] }] }, 'a value with Add'],
    [
      'a variable has two values',
      { ...right, overrides: [{ env: [{ operator: 'Add', name: 'A', value: 'x', valueFrom: {} }] }] },
      'either a value or valueFrom',
    ],
    ['a pointer is none', { ...right, overrides: [{ jsonPatch: [{ op: 'remove', path: 'spec' }] }] }, 'path'],
    ['a pointer has a wrong escape', { ...right, overrides: [{ jsonPatch: [{ op: 'remove', path: '/a~2' }] }] }, 'path'],
    ['a duration is none', { ...right, rollout: { soak: 'soon' } }, 'rollout.soak'],
    ['a percentage is above all', { ...right, rollout: { maxConcurrency: '101%' } }, 'a percentage from 1% to 100%'],
    ['nobody is concurrent', { ...right, rollout: { maxConcurrency: 0 } }, 'at least 1'],
    ['all and some are suspended', { ...right, suspend: { all: true, clusters: ['a'] } }, 'either all or clusters'],
    [
      'it acts for two',
      { ...right, runAs: { requester: true, serviceAccount: { namespace: 'a', name: 'b' } } },
      'either requester or serviceAccount',
    ],
    ['it acts for nobody', { ...right, runAs: { requester: false } }, 'requester to be true'],
  ])('refuses what we refuse: where %s', async (_why, spec, message) => {
    const answer = await create(client, spec);
    expect([answer.status, answer.json().message]).toEqual([
      expect.toSatisfy((status: number) => status === 422 || status === 400),
      expect.stringContaining(message),
    ]);
    expect(parseSpec(spec)).toHaveProperty('problems');
  });

  test('takes and keeps whatever we print', async () => {
    expect((await create(client, right)).status).toBe(201);
    const documents = fc.sample(rightDocument, { numRuns: 60, seed: 5 });
    for (const document of documents) {
      const spec = parseSpec(document);
      if ('problems' in spec) throw new Error('expected a spec');
      const printed = printSpec(spec);
      const answer = await create(client, printed);
      expect([answer.status, answer.status === 201 ? '' : answer.json().message]).toEqual([201, '']);
      const kept = (answer.json().spec ?? {}) as JsonObject;
      const again = parseSpec(kept);
      if ('problems' in again) throw new Error(`expected a spec, got ${JSON.stringify(again)}`);
      expect(canonicalJson(printSpec(again))).toBe(canonicalJson(printed));
    }
  });

  test('takes a spec as large as one may be', async () => {
    const many = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index));
    const image = { component: 'tag', operator: 'Add', value: 'x' };
    const largest: JsonObject = {
      ...right,
      placement: {
        affinityGroups: many(20, (n) => ({ name: `g${n}`, set: { clusters: many(500, (cluster) => `cluster-${cluster}`) } })),
        tolerations: many(50, () => ({ operator: 'Exists' })),
      },
      replicas: { mode: 'Divided', rules: many(500, (n) => ({ set: { clusters: [`cluster-${n}`] }, weight: n, min: 1, max: 2 })) },
      overrides: many(200, () => ({
        image: many(20, () => image),
        env: many(20, () => ({ operator: 'Add', name: 'A', value: 'b' })),
        jsonPatch: many(50, () => ({ op: 'remove', path: '/a/b/c' })),
      })),
      rollout: { waves: many(100, (n) => ({ name: `w${n}` })) },
    };
    expect(parseSpec(largest)).not.toHaveProperty('problems');
    const answer = await create(client, largest);
    expect([answer.status, answer.status === 201 ? '' : answer.json().message]).toEqual([201, '']);
  });

  test('guards each write as the embedded one does', async () => {
    const { propagations } = stores;
    const one = written(await propagations.create(place, { document: right, labels: { team: 'a' } }, never));
    expect(await propagations.create(place, { document: right }, never)).toEqual({ result: 'conflict' });
    const held = written(await propagations.setFinalizer(one, 'present', never));
    expect(await propagations.update(one, { document: right }, never)).toEqual({ result: 'conflict' });
    const other = { ...held, metadata: { ...held.metadata, uid: '00000000-0000-0000-0000-000000000000' } };
    expect(await propagations.annotate(other, { a: 'b' }, never)).toEqual({ result: 'conflict' });
    expect(await propagations.delete(other, never)).toEqual({ result: 'conflict' });

    const changed = written(
      await propagations.update(held, { document: { ...right, strict: true }, annotations: { [marks.paused]: 'x' } }, never),
    );
    expect(changed.metadata).toMatchObject({ generation: 2, labels: { team: 'a' }, finalizers: [marks.finalizer] });
    const line = { cluster: 'west', phase: 'Settled', health: 'Healthy', since: '2026-01-01T00:00:00Z' } as const;
    const status = {
      observedGeneration: 2,
      phase: 'Settled',
      clusters: [line],
      aggregate: [
        {
          key: { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' },
          status: { a: { b: 1 } },
          observed: true,
          health: 'Healthy',
          conditions: [{ cluster: 'west', condition: { type: 'x' } }],
        },
      ],
    } as const;
    const shown = written(await propagations.patchStatus(changed, status, never));
    expect(shown.status).toEqual(status);
    expect(await propagations.patchStatus(changed, { ...status, phase: 'Failed' }, never)).toEqual({ result: 'conflict' });
    const going = written(await propagations.delete(shown, never));
    expect(going.metadata.deletionTimestamp).toBeDefined();
    written(await propagations.setFinalizer(going, 'absent', never));
    await expect.poll(() => propagations.read(place).result, { timeout: 10_000 }).toBe('absent');
    expect(await propagations.fetch(place, never)).toBe('absent');
  });

  test('keeps inventories and revisions as the embedded one does', async () => {
    const { propagations, shares, revisions } = stores;
    const owner = written(await propagations.create({ ...place, name: 'kept' }, { document: right }, never));
    const entry = { key: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }, state: 'Owned', uid: 'u', health: 'Healthy' } as const;
    const blank = newShare(owner.metadata, clusterName('arn:aws:eks/Prod · ∞'));
    const first = await shares.save(blank, never);
    expect(await shares.save(blank, never)).toEqual({ result: 'conflict' });
    if (first.result !== 'saved') throw new Error('expected it to be saved');
    const second = await shares.save({ ...first.share, entries: [entry] }, never);
    expect(await shares.save({ ...first.share, entries: [] }, never)).toEqual({ result: 'conflict' });
    if (second.result !== 'saved') throw new Error('expected it to be saved');
    expect(await shares.load(owner.metadata, never)).toEqual([second.share]);

    const { name } = second.share;
    await client.send('DELETE', `/apis/muster.dev/v1alpha1/namespaces/default/clustershares/${name}`);
    const [going] = (await shares.load(owner.metadata, never)) as readonly (typeof second.share)[];
    if (going === undefined) throw new Error('expected it to outlive its deletion');
    const last = await shares.save({ ...going, entries: [] }, never);
    if (last.result !== 'saved') throw new Error('expected it to be saved');
    expect(await shares.remove(last.share, never)).toEqual({ result: 'removed' });
    expect(await shares.load(owner.metadata, never)).toEqual([]);

    const revision = { revision: 1, digest: 'd', document: right, requester: 'alice' };
    expect(await revisions.record(owner, revision, never)).toEqual({ result: 'written' });
    expect(await revisions.record(owner, revision, never)).toEqual({ result: 'written' });
    const old = {
      cluster: 'west',
      key: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' },
      uid: 'u',
      values: { ...configMap, data: { a: '1' } },
    };
    expect(await revisions.recordOldValues(owner, { revision: 1, values: [old] }, never)).toEqual({ result: 'written' });
    expect(await revisions.list(owner, never)).toEqual([{ ...revision, createdAt: expect.any(String), isRolledBack: false }]);
    expect(await revisions.oldValues(owner, 1, never)).toEqual([old]);
  });

  test("refuses impersonation of others once it knows the gateway's account", async () => {
    const bound = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'bob' } };
    const binding = {
      ...bound,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }],
    };
    expect((await client.send('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', { body: binding })).status).toBe(201);
    using bob = createRawClient(await cluster.addUser('bob'));
    const as = (user: string, more = {}) => ({ ...right, requester: { user, at: '2026-01-01T00:00:00Z', ...more } });
    await expect.poll(async () => (await create(bob, right)).status, { timeout: 10_000 }).toBe(201);
    expect((await create(bob, as('alice'))).status).toBe(201);
    await create(client, as('alice'), { name: 'of-alice', dryRun: false });

    await client.send('POST', '/api/v1/namespaces', { body: { metadata: { name: 'muster-system' } } });
    const told = { metadata: { name: 'muster-gateway' }, data: { username: 'the-gateway' } };
    await client.send('POST', '/api/v1/namespaces/muster-system/configmaps', { body: told });
    await expect.poll(async () => (await create(bob, as('alice'))).status, { timeout: 20_000 }).toBe(403);
    expect((await create(bob, as('alice'))).json().message).toContain('spec.requester is set by the gateway');
    expect((await create(bob, as('bob'))).status).toBe(201);
    expect((await create(bob, as('bob', { groups: ['system:masters'] }))).status).toBe(403);
    expect((await create(bob, as('bob', { groups: ['system:authenticated'] }))).status).toBe(201);
    expect((await create(bob, as('bob', { extra: { scopes: ['all'] } }))).status).toBe(403);
    expect((await create(bob, right)).status).toBe(201);

    const patch = (body: JsonObject) =>
      bob.send('PATCH', `${propagationsPath}/of-alice`, { body, headers: { 'content-type': 'application/merge-patch+json' } });
    expect((await patch({ metadata: { labels: { a: 'b' } } })).status).toBe(200);
    expect((await patch({ spec: { strict: true } })).status).toBe(403);
    expect((await patch({ spec: { strict: true, requester: null } })).status).toBe(200);

    const move = (requester?: JsonObject) => {
      const spec = {
        from: 'a',
        to: 'b',
        apps: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
        ...(requester && { requester }),
      };
      const body = { apiVersion: 'muster.dev/v1alpha1', kind: 'Migration', metadata: { name: 'moved' }, spec };
      return bob.send('POST', '/apis/muster.dev/v1alpha1/namespaces/default/migrations?dryRun=All', { body });
    };
    const at = '2026-01-01T00:00:00Z';
    expect((await move({ user: 'alice', at })).status).toBe(403);
    expect((await move({ user: 'bob', uid: 'of-alice', at })).status).toBe(403);
    expect((await move({ user: 'bob', groups: ['of-alice'], at })).status).toBe(403);
    expect((await move({ user: 'bob', at })).status).toBe(201);
    expect((await move()).status).toBe(201);

    await client.send('PATCH', '/api/v1/namespaces/muster-system/configmaps/muster-gateway', {
      body: { data: { username: 'bob' } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    await expect.poll(async () => (await move({ user: 'alice', at })).status, { timeout: 20_000 }).toBe(201);
    expect((await create(bob, as('alice', { groups: ['of-alice'], extra: { scopes: ['all'] } }))).status).toBe(201);
  });

  test("lets a user with all rights on muster.dev in a namespace write no state once it knows the gateway's account", async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    const rules = [
      { apiGroups: ['muster.dev'], resources: ['*'], verbs: ['*'] },
      { apiGroups: ['apps'], resources: ['controllerrevisions'], verbs: ['*'] },
    ];
    await client.send('POST', `${rbac}/roles`, { body: { metadata: { name: 'mallory' }, rules } });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'mallory' };
    const subjects = [{ kind: 'User', name: 'mallory', apiGroup: 'rbac.authorization.k8s.io' }];
    await client.send('POST', `${rbac}/rolebindings`, { body: { metadata: { name: 'mallory' }, roleRef, subjects } });
    using mallory = createRawClient(await cluster.addUser('mallory'));
    await expect.poll(async () => (await create(mallory, right)).status, { timeout: 10_000 }).toBe(201);
    await create(client, right, { name: 'of-state', dryRun: false });

    const muster = '/apis/muster.dev/v1alpha1/namespaces/default';
    const merge = { 'content-type': 'application/merge-patch+json' };
    const status = (by: RawClient) =>
      by.send('PATCH', `${muster}/propagations/of-state/status?dryRun=All`, { body: { status: { sources: [] } }, headers: merge });
    const share = { apiVersion: 'muster.dev/v1alpha1', kind: 'ClusterShare', metadata: { name: 'stolen' }, cluster: 'west', objects: [] };
    const shares = (by: RawClient) => by.send('POST', `${muster}/clustershares?dryRun=All`, { body: share });
    const revision = (by: RawClient, labels: JsonObject) => {
      const body = { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'r', labels }, revision: 1, data: {} };
      return by.send('POST', '/apis/apps/v1/namespaces/default/controllerrevisions?dryRun=All', { body });
    };
    const attempts = [status, shares, (by: RawClient) => revision(by, { [marks.propagation]: 'uid' })];
    const statusesOf = (by: RawClient) => Promise.all(attempts.map(async (attempt) => (await attempt(by)).status));
    await expect.poll(() => statusesOf(mallory), { timeout: 20_000 }).toEqual([403, 403, 403]);
    expect((await status(mallory)).json().message).toContain('only the gateway writes the state');
    // Revisions of others, and the administrator of the hub.
    expect((await revision(mallory, { app: 'web' })).status).toBe(201);
    expect(await statusesOf(client)).toEqual([200, 201, 201]);

    await client.send('PATCH', '/api/v1/namespaces/muster-system/configmaps/muster-gateway', {
      body: { data: { username: 'mallory' } },
      headers: merge,
    });
    await expect.poll(() => statusesOf(mallory), { timeout: 20_000 }).toEqual([200, 201, 201]);
  });
});
