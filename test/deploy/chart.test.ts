import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { chartFiles, publishedManifests } from '../../scripts/chart.ts';
import { parseConfigFile } from '../../src/config/config-file.ts';
import { Metrics } from '../../src/serve/monitoring/metrics.ts';
import { type ChartObject, helm, renderChart } from '../support/helm.ts';

const repository = path.join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(repository, 'deploy/chart', file), 'utf8');

const auth = { existingSecret: 'muster-token' };
const oidc = { authentication: { oidc: [{ issuer: 'https://dex.example.com', audiences: ['muster'] }] } };

test.each([...chartFiles()])('%s is made from other files: npm run chart writes it', async (file, text) => {
  await expect(text).toMatchFileSnapshot(path.join(repository, file));
});

test('the chart has no definition that deploy/crds lacks', () => {
  const made = [...chartFiles().keys()].filter((file) => file.includes('/crds/')).map((file) => path.basename(file));
  expect(readdirSync(path.join(repository, 'deploy/chart/files/crds')).toSorted()).toEqual(made.toSorted());
});

test('every value has a default and a schema', () => {
  const namesIn = (file: string, at: (document: Record<string, object>) => object | undefined) =>
    Object.keys(at(parse(read(file))) ?? {}).toSorted();
  const schema = namesIn('values.schema.json', ({ properties }) => properties);
  expect(namesIn('values.yaml', (values) => values)).toEqual(schema.filter((name) => name !== 'global'));
});

describe('alerts and the dashboard', () => {
  test('name only metrics that the gateway exports', async () => {
    const metrics = new Metrics({
      clusters: () => [],
      upstream: () => [],
      anomalies: () => [],
      leadership: { leadsHere: () => true, leaderlessSeconds: () => 0 },
      access: { decisions: [], disagreements: [] },
    });
    metrics.gaugeStreams(() => 0);
    const exported = new Set([...(await metrics.text()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    const text = read('files/alerts.yaml') + read('files/dashboard.json');
    const named = new Set(
      [...text.matchAll(/\b((?:muster|nodejs|process)_[a-z0-9_]+)(?=[{[)]|\s)/g)].map(([, name = '']) => name.replace(/_bucket$/, '')),
    );
    expect(named.size).toBeGreaterThan(10);
    expect([...named].filter((name) => !exported.has(name))).toEqual([]);
  });

  test('select metrics that other programs export too by a metric of the gateway, because the job has the name of the release', () => {
    const { groups } = parse(read('files/alerts.yaml')) as { groups: { rules: { expr: string }[] }[] };
    const { panels } = JSON.parse(read('files/dashboard.json')) as { panels: { targets?: { expr: string }[] }[] };
    const expressions = [...groups.flatMap(({ rules }) => rules), ...panels.flatMap(({ targets }) => targets ?? [])].map(
      ({ expr }) => expr,
    );
    const shared = expressions.filter((expr) => /\b(nodejs|process)_/.test(expr));
    expect(shared).toHaveLength(4);
    expect(shared.filter((expr) => !/[a-z] and on \(job, instance\) muster_streams\)/.test(expr))).toEqual([]);
  });

  test('say what has happened and what it means', () => {
    const { groups } = parse(read('files/alerts.yaml')) as { groups: { rules: Record<string, Record<string, string>>[] }[] };
    for (const { alert, labels, annotations } of groups.flatMap(({ rules }) => rules)) {
      expect(labels?.severity, String(alert)).toMatch(/^(warning|critical)$/);
      expect(Object.keys(annotations ?? {}), String(alert)).toEqual(['summary', 'description']);
    }
  });

  test('are explained in docs/guide/operate.md', () => {
    const page = readFileSync(path.join(repository, 'docs/guide/operate.md'), 'utf8');
    const alerts = [...read('files/alerts.yaml').matchAll(/alert: (\w+)/g)].map(([, name = '']) => name);
    expect(alerts.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

describe.skipIf(helm === undefined)('the chart, rendered by Helm', () => {
  const of = (objects: readonly ChartObject[], kind: string) => objects.filter((object) => object.kind === kind);
  const rulesOf = (objects: readonly ChartObject[], name: string): readonly { resources: string[]; verbs: string[] }[] =>
    objects.find(({ kind, metadata }) => /^(Cluster)?Role$/.test(kind) && metadata.name === name)?.rules ?? [];
  const configOf = (objects: readonly ChartObject[]) =>
    parse(of(objects, 'ConfigMap').find(({ data }) => 'muster.yaml' in data)?.data['muster.yaml']);

  test('is the source of deploy/muster.yaml: npm run chart writes it', async () => {
    await expect(publishedManifests(helm ?? '')).toMatchFileSnapshot(path.join(repository, 'deploy/muster.yaml'));
  });

  test.each<[string, object, RegExp]>([
    ['nothing authenticates callers', {}, /auth\.existingSecret: expected the name of a Secret/],
    ['a key is unknown', { auth, replicaCont: 2 }, /replicaCont/],
    ['a nested key is unknown', { auth, service: { prot: 80 } }, /prot/],
    ['a key of the config is unknown', { auth, config: { clustres: [] } }, /clustres/],
    ['a value of the config is wrong', { auth, config: { port: 'many' } }, /port/],
    ['a network is none', { auth, networkPolicy: { egressCIDRs: ['10.0.0.0'] } }, /egressCIDRs/],
    ['a digest is a tag', { auth, image: { digest: 'v1' } }, /digest/],
    ['a resource to read is a wildcard', { auth, rbac: { resources: [{ apiGroup: '*', resource: '*' }] } }, /resources/],
    ['the Secret of the token has no valid name', { auth: { existingSecret: 'My Token' } }, /existingSecret/],
    ['the name of the Service begins with a digit', { auth, fullnameOverride: '1muster' }, /fullnameOverride/],
    ['the account has no valid name', { auth, serviceAccount: { name: 'a b' } }, /serviceAccount\/name/],
    ['an inventory has no namespace to look in', { auth, inventories: [{ type: 'Istio', namespaces: [] }] }, /namespaces/],
    ['both ports are the same', { auth, config: { port: 9090 } }, /config\.metricsPort: expected another port than config\.port/],
    ['the port is chosen by the system', { auth, config: { port: 0 } }, /config\.port: expected a port from 1 to 65535/],
    ['the host is loopback', { auth, config: { host: '127.0.0.1' } }, /config\.host: expected an address of the Pod/],
    ['the host is loopback by name', { auth, config: { host: 'localhost' } }, /config\.host: expected an address of the Pod/],
    ['an argument sets the host', { auth, extraArgs: ['--host', '127.0.0.1'] }, /extraArgs: expected this in config.*got --host/],
    ['an argument sets the port', { auth, extraArgs: ['--port=80'] }, /extraArgs: expected this in config.*got --port=80/],
    ['a variable has no name', { auth, extraEnv: [{ nam: 'A' }] }, /extraEnv\/0.*name/],
    ['the config is taken away', { auth, config: null }, /missing property 'config'/],
    [
      'authentication has no way to authenticate',
      { auth, config: { authentication: {} } },
      /config\.authentication: expected at least one/,
    ],
    [
      'an inventory is in a cluster that the config does not have',
      { auth, inventories: [{ type: 'Istio', cluster: 'nowhere' }] },
      /inventories\[0\]\.cluster: expected one of hub, got nowhere/,
    ],
    [
      'the autoscaler has more replicas than it may have',
      { auth, autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 2 } },
      /autoscaling\.maxReplicas: expected at least minReplicas, which is 5, got 2/,
    ],
    ['an Ingress has no host', { auth, ingress: { enabled: true } }, /ingress\.host: expected a host/],
    ['an HTTPRoute has no Gateway', { auth, httpRoute: { enabled: true } }, /httpRoute\.parentRefs: expected a Gateway/],
  ])('is refused if %s', async (_, values, message) => {
    await expect(renderChart(values)).rejects.toThrow(message);
  });

  test.each(['1st', 'eu.west'])('is refused for the release %s, whose name no Service may have', async (release) => {
    await expect(renderChart({ auth }, release)).rejects.toThrow(/fullnameOverride: expected a name for Services/);
    await expect(renderChart({ auth, fullnameOverride: 'muster' }, release)).resolves.toBeDefined();
  });

  test('gives the Services of a long name at most 63 characters', async () => {
    const values = { auth, fullnameOverride: 'm'.repeat(63), serviceMonitor: { enabled: true } };
    const names = of(await renderChart(values), 'Service').map(({ metadata: { name } }) => name);
    expect(names.map(({ length }) => length)).toEqual([55, 63]);
  });

  test('has a config file that the gateway accepts, with the values laid over it', async () => {
    const objects = await renderChart({ auth, hub: { name: 'main' }, config: { logLevel: 'debug', limits: { bodyBytes: 8_388_608 } } });
    const config = await parseConfigFile(of(objects, 'ConfigMap')[0]?.data['muster.yaml'], 'muster.yaml');
    expect(config).toMatchObject({
      ...{ host: '0.0.0.0', port: 4000, metricsPort: 9090, shutdownDelaySeconds: 10, logLevel: 'debug', limits: { bodyBytes: 8_388_608 } },
      ...{ tokenFile: '/etc/muster/auth/token', clusters: [{ name: 'main', hub: true }] },
    });
  });

  test('uses the Secret as key of cursors if callers authenticate', async () => {
    const config = configOf(await renderChart({ auth, config: oidc }));
    expect([config.keyFile, config.tokenFile]).toEqual(['/etc/muster/auth/token', undefined]);
    const [{ spec }] = of(await renderChart({ config: oidc }), 'Deployment') as [ChartObject];
    expect(spec.template.spec.volumes.map(({ name }: { name: string }) => name)).toEqual(['config', 'state']);
  });

  test('rolls the Pods when the config changes, and not when other values do', async () => {
    const sums = await Promise.all(
      [{}, { service: { port: 81 } }, { config: { logLevel: 'warn' } }].map(async (values) => {
        const [{ spec }] = of(await renderChart({ auth, ...values }), 'Deployment') as [ChartObject];
        return spec.template.metadata.annotations['checksum/config'];
      }),
    );
    expect([sums[0] === sums[1], sums[0] === sums[2]]).toEqual([true, false]);
  });

  test.each<[object, number]>([
    [{}, 75],
    [{ shutdownDelaySeconds: 0 }, 75],
    [{ shutdownDelaySeconds: 60 }, 125],
  ])('gives Pods with %j time to end', async (config, seconds) => {
    const [{ spec }] = of(await renderChart({ auth, config }), 'Deployment') as [ChartObject];
    expect(spec.template.spec.terminationGracePeriodSeconds).toBe(seconds);
  });

  test('probes by HTTPS if the gateway serves it, on the port of the config', async () => {
    const config = { ...oidc, port: 8443, tls: { certFile: '/etc/tls/tls.crt', keyFile: '/etc/tls/tls.key' } };
    const objects = await renderChart({ config });
    const [container] = of(objects, 'Deployment')[0]?.spec.template.spec.containers ?? [];
    expect([container.readinessProbe.httpGet.scheme, container.livenessProbe.httpGet.scheme]).toEqual(['HTTPS', 'HTTPS']);
    expect(container.ports[0]).toMatchObject({ name: 'http', containerPort: 8443 });
    expect(of(objects, 'NetworkPolicy')[0]?.spec.ingress[0].ports[0].port).toBe(8443);
  });

  test.each<[string, object, readonly string[]]>([
    [
      'an autoscaler without a fixed number of replicas',
      { autoscaling: { enabled: true, targetStreams: 500 } },
      ['HorizontalPodAutoscaler'],
    ],
    ['a monitor with a Service for metrics', { serviceMonitor: { enabled: true } }, ['Service', 'ServiceMonitor']],
    ['alerts and a dashboard', { prometheusRule: { enabled: true }, dashboard: { enabled: true } }, ['ConfigMap', 'PrometheusRule']],
    [
      'routes',
      {
        ingress: { enabled: true, host: 'muster.example.com', tlsSecret: 'tls' },
        httpRoute: { enabled: true, parentRefs: [{ name: 'gateway' }] },
      },
      ['HTTPRoute', 'Ingress'],
    ],
  ])('has %s if they are enabled', async (_, values, kinds) => {
    const [plain, objects] = await Promise.all([renderChart({ auth }), renderChart({ auth, ...values })]);
    const count = (list: readonly ChartObject[], kind: string) => of(list, kind).length;
    for (const kind of kinds) expect(count(objects, kind), kind).toBe(count(plain, kind) + 1);
    expect(objects.length).toBe(plain.length + kinds.length);
    expect(of(objects, 'Deployment')[0]?.spec.replicas).toBe('autoscaling' in values ? undefined : 2);
  });

  test('lets Pods reach DNS, API servers on usual ports, and the proxy', async () => {
    const proxies = [
      { name: 'HTTPS_PROXY', value: 'http://proxy.example.com:3128/' },
      { name: 'ALL_PROXY', value: 'https://proxy.example.com' },
      { name: 'NO_PROXY', value: 'x:99' },
    ];
    const [policy] = of(await renderChart({ auth, extraEnv: proxies }), 'NetworkPolicy');
    const [dns, servers] = policy?.spec.egress ?? [];
    expect(dns.ports).toEqual([53, 5353].flatMap((port) => ['UDP', 'TCP'].map((protocol) => ({ port, protocol }))));
    expect(servers.ports.map(({ port }: { readonly port: number }) => port)).toEqual([443, 6443, 8443, 16443, 3128]);
  });

  test('leaves out what is switched off', async () => {
    const off = { create: false };
    const objects = await renderChart({
      ...{ auth, crds: { install: false }, rbac: off, serviceAccount: off, networkPolicy: { enabled: false } },
      podDisruptionBudget: { enabled: false },
    });
    expect(objects.map(({ kind }) => kind).toSorted()).toEqual(['ConfigMap', 'Deployment', 'Service']);
    expect(of(objects, 'Deployment')[0]?.spec.template.spec.serviceAccountName).toBe('default');
  });

  test('keeps every definition when the release is uninstalled', async () => {
    const definitions = of(await renderChart({ auth }), 'CustomResourceDefinition');
    expect(definitions.length).toBeGreaterThanOrEqual(3);
    for (const { metadata } of definitions) expect(metadata).toMatchObject({ annotations: { 'helm.sh/resource-policy': 'keep' } });
  });

  describe('grants', () => {
    const verbsOn = (objects: readonly ChartObject[], role: string, resource: string) =>
      rulesOf(objects, role).flatMap(({ resources, verbs }) => (resources.includes(resource) ? verbs : []));

    test('the rights that a gateway with a token needs: to read, also logs, and to keep intents', async () => {
      const objects = await renderChart({ auth });
      expect(verbsOn(objects, 'fleet:muster:reader', 'pods')).toEqual(['get', 'list', 'watch']);
      expect(verbsOn(objects, 'fleet:muster:reader', 'pods/log')).toEqual(['get']);
      expect(verbsOn(objects, 'muster', 'secrets')).toEqual(['get', 'list', 'watch', 'update', 'patch']);
      expect(of(objects, 'ClusterRoleBinding').map(({ metadata }) => metadata.name)).toEqual(['fleet:muster:reader', 'fleet:muster:hub']);
    });

    test('impersonation only to a gateway with authentication, which reads logs as the caller', async () => {
      const objects = await renderChart({ config: { authentication: { tokenReview: { audiences: ['muster'] } } } });
      expect(verbsOn(objects, 'fleet:muster:impersonator', 'users')).toEqual(['impersonate']);
      expect(verbsOn(objects, 'fleet:muster:reader', 'pods/log')).toEqual([]);
      expect(verbsOn(objects, 'fleet:muster:hub', 'tokenreviews')).toEqual(['create']);
      const policies = of(objects, 'ValidatingAdmissionPolicyBinding');
      const [parameters] = of(objects, 'ConfigMap').filter(({ data }) => 'username' in data);
      expect(policies.map(({ metadata }) => metadata.name)).toEqual(['fleet.muster.muster.dev', 'state.fleet.muster.muster.dev']);
      for (const { spec } of policies) expect(spec.paramRef).toMatchObject({ name: parameters?.metadata.name, namespace: 'fleet' });
      expect(parameters?.data.username).toBe('system:serviceaccount:fleet:muster');
    });

    test('no Secret without registration, and further kinds, writes and importers only if configured', async () => {
      const values = {
        rbac: { writer: true, resources: [{ apiGroup: 'example.com', resource: 'widgets' }] },
        registration: { enabled: false },
      };
      const objects = await renderChart({ auth, ...values, config: { importers: ['MultiClusterResource'] } });
      expect(verbsOn(objects, 'muster', 'secrets')).toEqual([]);
      expect(verbsOn(objects, 'fleet:muster:reader-more', 'widgets')).toEqual(['get', 'list', 'watch']);
      expect(verbsOn(objects, 'fleet:muster:writer', 'deployments')).toEqual(['create', 'update', 'patch', 'delete']);
      expect(verbsOn(objects, 'fleet:muster:importers', 'multiclusterresources')).toContain('patch');
      for (const resource of ['secrets', 'roles', 'clusterroles', 'pods/exec', 'nodes/proxy'])
        expect(verbsOn(objects, 'fleet:muster:writer', resource)).toEqual([]);
    });

    test('Secrets of inventories in their namespaces alone', async () => {
      const inventories = [
        { type: 'ClusterAPI', namespaces: ['teams', 'shops'] },
        { type: 'Karmada' },
        { type: 'Istio' },
        { type: 'ArgoCD', cluster: 'elsewhere', namespaces: ['far'] },
      ];
      const clusters = [
        { name: 'hub', hub: true },
        { name: 'elsewhere', kubeconfig: '/etc/elsewhere' },
      ];
      const objects = await renderChart({ auth, inventories, config: { clusters } });
      const roles = of(objects, 'Role').filter(({ metadata }) => metadata.name === 'muster-inventories');
      expect(roles.map(({ metadata }) => metadata.namespace).toSorted()).toEqual(['istio-system', 'shops', 'teams']);
      expect(roles.map(({ rules }) => rules)).toEqual(
        roles.map(() => [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] }]),
      );
      expect(rulesOf(objects, 'fleet:muster:inventories')).toEqual(
        ['cluster.karmada.io', 'cluster.x-k8s.io'].map((group) => ({
          apiGroups: [group],
          resources: ['clusters'],
          verbs: ['get', 'list', 'watch'],
        })),
      );
    });

    test('the rights for keys of the config that replace values: inventories, the hub and the system namespace', async () => {
      const config = {
        systemNamespace: 'fleet-secrets',
        clusters: [
          { name: 'main', hub: true },
          { name: 'hub', kubeconfig: '/etc/hub' },
        ],
        inventories: [
          { type: 'ArgoCD', cluster: 'main', namespaces: ['delivery'] },
          { type: 'ArgoCD', cluster: 'hub', namespaces: ['far'] },
        ],
      };
      const roles = of(await renderChart({ auth, config, inventories: [{ type: 'Istio' }] }), 'Role');
      expect(roles.map(({ metadata: { name, namespace } }) => `${namespace}/${name}`)).toEqual([
        'fleet-secrets/muster',
        'delivery/muster-inventories',
      ]);
    });

    test('nothing by a wildcard, and no way to more rights', async () => {
      const all = {
        auth,
        rbac: { writer: true },
        inventories: [{ type: 'OpenClusterManagement' }],
        config: { importers: ['MultiClusterResource'], ...oidc },
      };
      const rules = (await renderChart(all)).flatMap(({ rules = [] }) => rules as Record<'apiGroups' | 'resources' | 'verbs', string[]>[]);
      const words = rules.flatMap(({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs]);
      for (const word of ['*', 'escalate', 'bind', 'deletecollection', 'pods/exec', 'nodes/proxy', 'serviceaccounts/token'])
        expect(words).not.toContain(word);
    });
  });
});
