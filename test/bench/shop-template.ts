import type { Manifest } from '../../src/manifests/manifest.ts';

const namespace = 'shop';
const labels = { 'app.kubernetes.io/name': 'checkout', 'app.kubernetes.io/part-of': 'shop' };
const selector = { matchLabels: labels };

const container = {
  name: 'checkout',
  image: 'registry.shop.example/checkout:8.1.4',
  args: ['--listen=:8080', '--catalog=http://catalog:8080', '--cart=http://cart:8080'],
  env: Array.from({ length: 12 }, (_, index) => ({ name: `SETTING_${index}`, value: `value of setting ${index}` })),
  envFrom: [{ configMapRef: { name: 'settings-0' } }],
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  resources: { requests: { cpu: '250m', memory: '256Mi' }, limits: { memory: '512Mi' } },
  readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 5, failureThreshold: 3 },
  livenessProbe: { httpGet: { path: '/live', port: 'http' }, periodSeconds: 10, failureThreshold: 6 },
  securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
};

const podTemplate = { metadata: { labels }, spec: { serviceAccountName: 'checkout', containers: [container] } };

function named(apiVersion: string, kind: string, name: string, more: Readonly<Record<string, unknown>>): Manifest {
  return JSON.parse(JSON.stringify({ apiVersion, kind, metadata: { name, namespace, labels }, ...more })) as Manifest;
}

function settings(index: number): Manifest {
  const lines = Array.from({ length: 24 }, (_, line) => `feature.${index}.${line}: enabled for customers`);
  return named('v1', 'ConfigMap', `settings-${index}`, { data: { 'features.yaml': lines.join('\n'), currency: 'EUR', region: 'none' } });
}

/** The 20 objects of one application of a shop: a Deployment and the objects that it needs. 14 KB as JSON. */
export const shopTemplate: readonly Manifest[] = [
  named('apps/v1', 'Deployment', 'checkout', { spec: { replicas: 6, selector, template: podTemplate } }),
  ...Array.from({ length: 8 }, (_, index) => settings(index)),
  ...['checkout', 'checkout-internal', 'checkout-metrics'].map((name, index) =>
    named('v1', 'Service', name, { spec: { selector: labels, ports: [{ name: 'http', port: 8080 + index, targetPort: 'http' }] } }),
  ),
  named('v1', 'ServiceAccount', 'checkout', { automountServiceAccountToken: false }),
  named('rbac.authorization.k8s.io/v1', 'Role', 'checkout', {
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }],
  }),
  named('rbac.authorization.k8s.io/v1', 'RoleBinding', 'checkout', {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'checkout' },
    subjects: [{ kind: 'ServiceAccount', name: 'checkout', namespace }],
  }),
  named('networking.k8s.io/v1', 'Ingress', 'checkout', {
    spec: {
      rules: [
        {
          host: 'checkout.shop.example',
          http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'checkout', port: { name: 'http' } } } }] },
        },
      ],
    },
  }),
  named('networking.k8s.io/v1', 'NetworkPolicy', 'checkout', {
    spec: { podSelector: selector, policyTypes: ['Ingress'], ingress: [{ from: [{ namespaceSelector: {} }], ports: [{ port: 8080 }] }] },
  }),
  named('policy/v1', 'PodDisruptionBudget', 'checkout', { spec: { minAvailable: '50%', selector } }),
  named('batch/v1', 'CronJob', 'checkout-sweep', {
    spec: {
      schedule: '*/15 * * * *',
      concurrencyPolicy: 'Forbid',
      jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ ...container, name: 'sweep' }] } } } },
    },
  }),
  named('batch/v1', 'CronJob', 'checkout-report', {
    spec: {
      schedule: '5 2 * * *',
      jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ ...container, name: 'report' }] } } } },
    },
  }),
];

/** Overrides by region and for the first clusters of a rollout, in four forms. */
export const shopOverrides: readonly Readonly<Record<string, unknown>>[] = [
  {
    name: 'us registry',
    set: { fields: [{ field: 'region', operator: 'In', values: ['us-east-1'] }] },
    image: [{ component: 'registry', operator: 'Replace', value: 'us.registry.shop.example' }],
  },
  {
    name: 'canary tag',
    set: { selector: { matchLabels: { tier: 'canary' } } },
    objects: { kind: 'Deployment' },
    image: [{ component: 'tag', operator: 'Replace', value: '8.2.0-rc1' }],
    env: [{ operator: 'Add', name: 'CANARY', value: 'true' }],
  },
  { name: 'tier', annotations: [{ operator: 'Add', values: { 'shop.example/tier': 'one' } }] },
  {
    name: 'currency',
    set: { fields: [{ field: 'region', operator: 'In', values: ['us-east-1'] }] },
    objects: { kind: 'ConfigMap' },
    jsonPatch: [{ op: 'replace', path: '/data/currency', value: 'USD' }],
  },
];
