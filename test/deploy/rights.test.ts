import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { createRawClient, type Endpoint, type RawClient } from '../support/clients/raw-client.ts';
import { realPrograms, realServerTitle, startRealCluster } from '../support/cluster/real-cluster.ts';
import { runGateway } from '../support/gateway/run-gateway.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';

interface Manifest extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

async function manifestsIn(file: string): Promise<readonly Manifest[]> {
  const text = await readFile(new URL(`../../deploy/${file}`, import.meta.url), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS());
}

const rulesIn = (manifests: readonly Manifest[]) => manifests.flatMap((manifest) => (manifest.rules as readonly Rule[] | undefined) ?? []);

describe('the rights of the gateway', () => {
  test('on the hub are those of a member, and more', async () => {
    const [member, hub] = await Promise.all([manifestsIn('rbac/member.yaml'), manifestsIn('rbac/hub.yaml')]);
    expect(hub.slice(0, member.length)).toEqual(member);
    expect(hub.length).toBeGreaterThan(member.length);
  });

  test('let it read each built-in kind but Secrets, each by its name', async () => {
    const reading = rulesIn(await manifestsIn('rbac/member.yaml')).filter(({ verbs }) => verbs.includes('list'));
    const granted = reading.flatMap(({ apiGroups, resources }) => resources.map((resource) => `${resource}.${apiGroups.join()}`));
    const builtIn = [...loadBaseline().kinds.values()].filter(({ source }) => source === 'BUILT_IN');
    const wanted = builtIn.map(({ plural, group }) => `${plural}.${group}`).filter((name) => name !== 'secrets.');
    expect(granted.toSorted()).toEqual(wanted.toSorted());
    expect(reading.every(({ verbs }) => verbs.join() === 'get,list,watch')).toBe(true);
  });

  test('with constrained impersonation include no right to act as anybody in any other way', async () => {
    const rules = rulesIn(await manifestsIn('rbac/constrained-impersonation.yaml'));
    const verbs = new Set(rules.flatMap((rule) => rule.verbs));
    expect([...verbs].filter((verb) => !/^impersonate(-on)?:(user-info|serviceaccount)(:|$)/.test(verb))).toEqual([]);
    expect(rules.flatMap(({ resources = [] }) => resources).filter((word) => word.includes('*'))).toEqual([]);
  });

  test('have no wildcard, and no way to more rights', async () => {
    const rules = rulesIn([...(await manifestsIn('rbac/member.yaml')), ...(await manifestsIn('rbac/hub.yaml'))]);
    expect(
      rules.flatMap(({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs]).filter((word) => word.includes('*')),
    ).toEqual([]);
    const verbs = new Set(rules.flatMap((rule) => rule.verbs));
    for (const verb of ['escalate', 'bind', 'approve', 'sign', 'deletecollection']) expect(verbs.has(verb)).toBe(false);
    const resources = new Set(rules.flatMap((rule) => rule.resources));
    for (const resource of ['secrets', 'pods/log', 'pods/exec', 'nodes/proxy', 'serviceaccounts/token'])
      expect(resources.has(resource)).toBe(false);
  });

  test('for registrations are rights to the Secrets of one namespace, without creating or deleting', async () => {
    const [role, ...others] = await manifestsIn('rbac/registration.yaml');
    expect([role?.kind, role?.metadata.namespace, others.map(({ kind }) => kind)]).toEqual(['Role', 'muster-system', ['RoleBinding']]);
    const verbs = ['get', 'list', 'watch', 'update', 'patch'];
    expect(role?.rules).toEqual([{ apiGroups: [''], resources: ['secrets'], verbs }]);
  });
});

const plurals: Readonly<Record<string, string>> = {
  CustomResourceDefinition: 'customresourcedefinitions',
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
  Namespace: 'namespaces',
  ServiceAccount: 'serviceaccounts',
  ConfigMap: 'configmaps',
  Secret: 'secrets',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
};

async function apply(client: RawClient, ...manifests: readonly Manifest[]): Promise<void> {
  for (const manifest of manifests) {
    const { apiVersion, kind, metadata } = manifest;
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const place = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const target = `${root}${place}/${plurals[kind]}/${metadata.name}?fieldManager=test&force=true`;
    const { status, text } = await client.send('PATCH', target, { body: manifest, headers });
    if (status > 201) throw new Error(`${kind} ${metadata.name}: ${status} ${text}`);
  }
}

const rbacGroup = 'rbac.authorization.k8s.io';
const bind = (name: string, role: string, account: string): Manifest => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name, namespace: 'shop' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'shop' }],
});
/** A role for tests. The roles `edit` and `view` are empty without kube-controller-manager, which aggregates them. */
const role = (name: string, ...rules: readonly JsonObject[]): Manifest => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name },
  rules,
});
const importersOfGateway: Manifest = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'muster-importers' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'muster-importers' },
  subjects: [{ kind: 'ServiceAccount', name: 'muster', namespace: 'muster-system' }],
};
const account = (name: string): Manifest => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'shop' } });
const configMap = (name: string, data: JsonObject): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
  data,
});

interface Results {
  readonly results: readonly {
    readonly action: string;
    readonly fault?: { readonly code: string; readonly status?: { readonly message: string } };
  }[];
}
interface Applied {
  readonly apply: Results;
}

const hubRights = ['rbac/hub.yaml'];
const impersonations = [
  { title: 'these rights', rights: hubRights },
  { title: 'constrained impersonation', rights: [...hubRights, 'rbac/constrained-impersonation.yaml'] },
];

describe.skipIf(realPrograms === undefined).each(impersonations)(`a gateway with exactly $title, on ${realServerTitle}`, ({ rights }) => {
  const stack = new AsyncDisposableStack();
  let admin: RawClient;
  let endpoint: Endpoint;
  let folder = '';
  let url = '';
  const tokenOf = async (namespace: string, name: string, audiences?: readonly string[]): Promise<string> => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: audiences === undefined ? {} : { audiences } };
    const answer = await admin.send('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, { body: body as Json });
    return (answer.json().status as { readonly token: string }).token;
  };

  beforeAll(async () => {
    const cluster = stack.use(await startRealCluster());
    endpoint = { url: cluster.endpoint.url, caPem: cluster.endpoint.caPem };
    admin = stack.use(createRawClient(cluster.endpoint));
    const crds = await Promise.all(
      ['propagations', 'clustershares', 'migrations', 'admission'].map((name) => manifestsIn(`crds/${name}.yaml`)),
    );
    const importers = await Promise.all(['crds/importers/multiclusterresources.yaml', 'rbac/importers.yaml'].map(manifestsIn));
    const granted = await Promise.all(rights.map(manifestsIn));
    await apply(admin, ...crds.flat(), ...granted.flat(), ...importers.flat(), importersOfGateway);
    await apply(
      admin,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
      ...['editor', 'viewer', 'stranger'].map(account),
      role(
        'editor',
        { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] },
        { apiGroups: ['muster.dev'], resources: ['propagations'], verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'] },
      ),
      role('viewer', { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }),
      bind('editor', 'editor', 'editor'),
      bind('viewer', 'viewer', 'viewer'),
      configMap('settings', { of: 'shop' }),
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'canary', namespace: 'shop' }, stringData: { key: 'canary-7f3a' } },
    );
    folder = await mkdtemp(path.join(tmpdir(), 'muster-rights-'));
    stack.defer(() => rm(folder, { recursive: true }));
    const { url: server, caPem } = cluster.endpoint;
    const token = await tokenOf('muster-system', 'muster');
    const running = await runGateway({
      contexts: [{ name: 'north', cluster: { url: server, caPem, token } }],
      configFile: JSON.stringify({
        apiVersion: 'config.muster.dev/v1alpha1',
        clusters: [{ name: 'north', context: 'north', hub: true, secrets: 'live' }],
        authentication: { tokenReview: { audiences: ['muster'] } },
        audit: { file: path.join(folder, 'audit') },
        importers: [{ system: 'MultiClusterResource', serviceAccount: 'editor' }],
      }),
    });
    stack.defer(() => running.gateway[Symbol.asyncDispose]());
    await running.gateway.whenStarted(AbortSignal.timeout(60_000));
    ({ url } = running.gateway);
  }, 120_000);
  afterAll(() => stack.disposeAsync());

  interface Answer<Data> {
    readonly data: Data;
    readonly extensions?: { readonly faults: readonly { readonly code: string }[] };
  }
  async function ask<Data>(name: string, query: string, variables: JsonObject = {}): Promise<Answer<Data>> {
    const authorization = `Bearer ${await tokenOf('shop', name, ['muster'])}`;
    const headers = { 'content-type': 'application/json', authorization };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
    return (await answer.json()) as Answer<Data>;
  }

  test('mirrors every built-in kind, and shows each caller the objects that the caller may see', async () => {
    const list = '{ configMaps(waitSeconds: 10) { items { metadata { namespace name } } faults { code } } }';
    await vi.waitFor(async () => {
      const { data } = await ask<{ configMaps: { items: { metadata: object }[]; faults: object[] } }>('viewer', list);
      expect(data.configMaps.items.map((one) => one.metadata)).toContainEqual({ namespace: 'shop', name: 'settings' });
      expect(data.configMaps.faults).toEqual([]);
    }, 30_000);
    const allowed = await Promise.all(
      [...loadBaseline().kinds.values()]
        .filter(({ source, plural }) => source === 'BUILT_IN' && plural !== 'secrets')
        .map(async ({ group, plural }) => {
          const spec = {
            user: 'system:serviceaccount:muster-system:muster',
            resourceAttributes: { verb: 'watch', group, resource: plural },
          };
          const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
          const answer = await admin.send('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { body });
          return (answer.json().status as { readonly allowed: boolean }).allowed;
        }),
    );
    expect(allowed.every((one) => one)).toBe(true);
  });

  test('names a cluster in its checks only to callers who may see it', async () => {
    const checks = async (name: string) => {
      const headers = { authorization: `Bearer ${await tokenOf('shop', name, ['muster'])}` };
      return (await fetch(url.replace('/graphql', '/readyz?verbose'), { headers })).text();
    };
    const all = '[+]hub/north ok: its registered clusters are known\n[+]cluster/north ok: SYNCED\nreadyz check passed\n';
    await vi.waitFor(async () => expect(await checks('viewer')).toBe(all), 30_000);
    expect(await checks('stranger')).toBe('readyz check passed\n');
  });

  test('writes as callers, who decide by their rights', async () => {
    const write =
      'mutation ($m: JSON!) { apply(clusters: "north", manifests: [{ json: $m }]) { ok results { action fault { code status { message } } } } }';
    const manifest = configMap('written', { by: 'editor' });
    expect((await ask<Applied>('editor', write, { m: manifest })).data.apply).toMatchObject({ ok: true, results: [{ action: 'CREATED' }] });
    const denied = (await ask<Applied>('viewer', write, { m: configMap('denied', {}) })).data.apply.results[0];
    expect(denied).toMatchObject({ action: 'FAILED', fault: { code: 'FORBIDDEN' } });
    expect(denied?.fault?.status?.message).toContain('User "system:serviceaccount:shop:viewer" cannot');
    const settings = { ref: { cluster: 'north', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'settings' } };
    const hidden = { ref: { ...settings.ref, kind: 'Secret', name: 'canary' } };
    const remove = 'mutation ($t: [Target!]!) { delete(targets: $t) { results { action fault { code } } } }';
    const removed = (await ask<{ delete: Results }>('viewer', remove, { t: [settings, hidden] })).data.delete.results;
    expect(removed.map(({ fault }) => fault?.code)).toEqual(['FORBIDDEN', 'NOT_FOUND']);
  });

  test('reads Secrets as callers, and records each read', async () => {
    const secret = 'query ($n: String!) { secret(cluster: "north", namespace: "shop", name: $n, live: true) { data } }';
    const read = await ask<{ secret: { data: { key: string } } }>('editor', secret, { n: 'canary' });
    expect(Buffer.from(read.data.secret.data.key, 'base64').toString()).toBe('canary-7f3a');
    const [denied, absent] = [await ask('viewer', secret, { n: 'canary' }), await ask('viewer', secret, { n: 'none' })];
    expect(denied).toEqual(absent);
    expect(denied.extensions?.faults).toMatchObject([{ code: 'FORBIDDEN' }]);
    const lines = (await readFile(path.join(folder, 'audit'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(
      lines.filter(({ verb }) => verb === 'get').map(({ user, objects }) => [user.username, objects[0].name, objects[0].result]),
    ).toEqual([
      ['system:serviceaccount:shop:editor', 'canary', 'READ'],
      ['system:serviceaccount:shop:viewer', 'canary', 'FAILED'],
      ['system:serviceaccount:shop:viewer', 'none', 'FAILED'],
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/canary-7f3a|Y2FuYXJ5LTdmM2E|eyJ/);
  });

  test('propagates with the rights of the requester, on the hub and in the cluster', async () => {
    const propagate = 'mutation ($i: PropagationInput!) { propagate(input: $i) { result faults { code } propagation { requester } } }';
    const intent = (name: string) => ({
      namespace: 'shop',
      name,
      template: [{ json: configMap(`${name}-copy`, { v: '1' }) }],
      placement: {},
    });
    expect((await ask<{ propagate: object }>('viewer', propagate, { i: intent('of-viewer') })).data.propagate).toMatchObject({
      result: 'REFUSED',
      faults: [{ code: 'FORBIDDEN' }],
    });
    const accepted = (await ask<{ propagate: object }>('editor', propagate, { i: intent('of-editor') })).data.propagate;
    expect(accepted).toMatchObject({ result: 'ACCEPTED', propagation: { requester: 'system:serviceaccount:shop:editor' } });
    await vi.waitFor(async () => {
      expect((await admin.get('/api/v1/namespaces/shop/configmaps/of-editor-copy')).status).toBe(200);
    }, 30_000);
    const state = '{ propagation(namespace: "shop", name: "of-editor") { phase } propagations { totalCount } }';
    await vi.waitFor(
      async () => expect((await ask('editor', state)).data).toEqual({ propagation: { phase: 'SETTLED' }, propagations: { totalCount: 1 } }),
      30_000,
    );
    expect((await ask('viewer', state)).data).toEqual({ propagation: null, propagations: { totalCount: 0 } });
    const change = (field: string) => `mutation { it: ${field}(namespace: "shop", name: "of-editor") { result } }`;
    for (const field of ['pausePropagation', 'rollbackPropagation', 'deletePropagation'])
      expect((await ask<{ it: { result: string } }>('viewer', change(field))).data.it.result).toBe('NOT_FOUND');
    expect((await ask<{ it: { result: string } }>('editor', change('deletePropagation'))).data.it.result).toBe('ACCEPTED');
    await vi.waitFor(async () => {
      expect((await admin.get('/api/v1/namespaces/shop/configmaps/of-editor-copy')).status).toBe(404);
      expect((await admin.get('/apis/muster.dev/v1alpha1/namespaces/shop/propagations/of-editor')).status).toBe(404);
    }, 30_000);
  });

  test('refuses a Propagation without a requester', async () => {
    const spec = {
      template: [{ json: configMap('nobody', {}) }],
      placement: {},
      runAs: { serviceAccount: { namespace: 'shop', name: 'editor' } },
    };
    const body = { apiVersion: 'muster.dev/v1alpha1', kind: 'Propagation', metadata: { name: 'without' }, spec };
    const place = '/apis/muster.dev/v1alpha1/namespaces/shop/propagations';
    expect((await admin.send('POST', place, { body })).status).toBe(201);
    await vi.waitFor(async () => {
      const { conditions = [] } = ((await admin.get(`${place}/without`)).json().status ?? {}) as {
        conditions?: readonly { type: string; status: string; message: string }[];
      };
      expect(conditions.find(({ type }) => type === 'Accepted')).toMatchObject({
        status: 'False',
        message: expect.stringMatching(/^RequesterMissing/),
      });
    }, 30_000);
    expect((await admin.get('/api/v1/namespaces/shop/configmaps/nobody')).status).toBe(404);
  });

  test('imports resources as the service account of their namespace, and writes only what that account may write', async () => {
    const place = '/apis/mulitcluster.practice.com/v1alpha1/namespaces/shop/multiclusterresources';
    const create = async (name: string, template: JsonObject) => {
      const spec = { template, placement: { clusters: [{ name: 'north' }] } };
      const body = { apiVersion: 'mulitcluster.practice.com/v1alpha1', kind: 'MultiClusterResource', metadata: { name }, spec };
      expect((await admin.send('POST', place, { body })).status).toBe(201);
    };
    const phaseOf = async (name: string) => ((await admin.get(`${place}/${name}`)).json().status as { phase?: string } | undefined)?.phase;
    await create('allowed', configMap('imported', { v: '1' }));
    await create('denied', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'imported', namespace: 'shop' } });
    await vi.waitFor(async () => expect(await phaseOf('allowed')).toBe('Settled'), 30_000);
    await vi.waitFor(async () => {
      const { clusters } = (await admin.get(`${place}/denied`)).json().status as JsonObject;
      expect(clusters).toMatchObject([{ cluster: 'north', phase: 'Denied' }]);
    }, 30_000);
    expect((await admin.get('/api/v1/namespaces/shop/configmaps/imported')).status).toBe(200);
    expect((await admin.get('/api/v1/namespaces/shop/serviceaccounts/imported')).status).toBe(404);
  }, 90_000);

  test('cannot act as a member of system:masters where impersonation is constrained, and acts as other users', async () => {
    await apply(admin, { ...bind('lena', 'viewer', ''), subjects: [{ apiGroup: rbacGroup, kind: 'User', name: 'oidc:lena' }] });
    await using gateway = createRawClient({ ...endpoint, token: await tokenOf('muster-system', 'muster') });
    const get = async (user: string, group: string) => {
      const headers = { 'impersonate-user': user, 'impersonate-group': group, 'impersonate-uid': '7' };
      return (await gateway.send('GET', '/api/v1/namespaces/shop/configmaps/settings', { headers })).status;
    };
    expect([await get('oidc:lena', 'oidc:team'), await get('oidc:mona', 'oidc:team')]).toEqual([200, 403]);
    // Legacy impersonation lets the account name any group, so the gateway itself refuses these.
    expect(await get('oidc:mona', 'system:masters')).toBe(rights === hubRights ? 200 : 403);
  });
});
