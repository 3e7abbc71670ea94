import type { KubernetesObject } from '../../core/objects.ts';
import { readyAnnotation } from '../controllers/nodes.ts';
import { customKindsAt } from './custom-kinds.ts';
import { type DemoProgram, type NodeHardware, nodeOf, Workloads } from './workloads.ts';

/** Name, version and objects of a demo cluster. Definitions are applied first. */
export interface DemoCluster {
  readonly name: string;
  readonly version: string;
  readonly definitions: readonly KubernetesObject[];
  readonly objects: readonly KubernetesObject[];
}

const namespaces = ['shop', 'payments', 'data', 'monitoring', 'batch'] as const;

/**
 * Returns the three demo clusters: two production clusters, the second a few versions behind, and a staging cluster with more broken
 * workloads.
 */
export function demoClustersAt(nowMs: number): readonly DemoCluster[] {
  return [europe(nowMs), america(nowMs), staging(nowMs)];
}

function europe(nowMs: number): DemoCluster {
  const make = new Workloads(nowMs);
  const custom = customKindsAt(nowMs);
  const nodes = nodesOf(nowMs, { cluster: 'eu-prod', count: 5, version: 'v1.36.3', region: 'eu-central-1' });
  return {
    name: 'eu-prod',
    version: '1.36.3',
    definitions: custom.definitions,
    objects: [
      ...namespaces.map((name) => namespaceOf(name, make.created(412))),
      ...nodes.map((node, index) => (index === 4 ? { ...node, spec: { ...(node.spec as object), unschedulable: true } } : node)),
      ...system(nowMs),
      ...shop.flatMap((program) => make.deployment(program)),
      ...payments.flatMap((program) => make.deployment(program)),
      ...stores.flatMap((program) => make.statefulSet(program)),
      make.cronJob({ ...exporter, name: 'price-sync', image: 'price-sync:2.8.1' }, '*/2 * * * *'),
      make.cronJob({ ...exporter, name: 'nightly-report', image: 'reports:5.0.3', batch: 'nightly' }, '15 2 * * *'),
      make.job({ ...exporter, name: 'invoice-export-2026-10', outcome: 'failed', ageDays: 0.2 }),
      make.job({ ...exporter, name: 'search-reindex', ageDays: 1.1 }, { completions: 4, parallelism: 2 }),
      ...settings(make.created(200)),
      ...custom.objects,
    ],
  };
}

function america(nowMs: number): DemoCluster {
  const make = new Workloads(nowMs);
  const nodes = nodesOf(nowMs, { cluster: 'us-prod', count: 4, version: 'v1.33.13', region: 'us-east-1' });
  return {
    name: 'us-prod',
    version: '1.33.13',
    definitions: [],
    objects: [
      ...namespaces.map((name) => namespaceOf(name, make.created(390))),
      ...nodes.map((node, index) => (index === 3 ? absent(node) : node)),
      ...system(nowMs),
      ...shop.map((program) => ({ ...program, replicas: Math.max(1, (program.replicas ?? 1) - 1) })).flatMap((one) => make.deployment(one)),
      ...payments.flatMap((program) => make.deployment(program.name === 'fraud-check' ? { ...program, outcome: 'crash' } : program)),
      ...stores.flatMap((program) => make.statefulSet(program)),
      make.cronJob({ ...exporter, name: 'price-sync', image: 'price-sync:2.7.9' }, '*/3 * * * *'),
      make.job({ ...exporter, name: 'tax-tables', ageDays: 3 }),
      ...settings(make.created(180)),
    ],
  };
}

function staging(nowMs: number): DemoCluster {
  const make = new Workloads(nowMs);
  return {
    name: 'staging',
    version: '1.36.3',
    definitions: [],
    objects: [
      ...namespaces.map((name) => namespaceOf(name, make.created(95))),
      ...nodesOf(nowMs, { cluster: 'staging', count: 2, version: 'v1.36.3', region: 'eu-central-1' }),
      ...system(nowMs),
      ...shop
        .map((program): DemoProgram => ({ ...program, replicas: 1, ...(program.name === 'checkout' ? brokenImage : {}) }))
        .flatMap((program) => make.deployment(program)),
      ...make.deployment({ ...exporter, name: 'recommendations', namespace: 'shop', replicas: 1, nodeSelector: { accelerator: 'gpu' } }),
      make.job({ ...exporter, name: 'load-test', outcome: 'forever', ageDays: 0.05 }, { parallelism: 2, completions: 2 }),
      make.job({ ...exporter, name: 'schema-migration', outcome: 'failed', ageDays: 0.4 }),
      ...settings(make.created(60)),
    ],
  };
}

const brokenImage = { image: 'checkout:8.2.0-rc1', outcome: 'no-image' } as const;

const shop: readonly DemoProgram[] = [
  {
    name: 'storefront',
    namespace: 'shop',
    image: 'storefront:12.4.1',
    team: 'web',
    replicas: 4,
    ageDays: 310,
    port: 8080,
    configMap: 'storefront-config',
  },
  { name: 'catalog', namespace: 'shop', image: 'catalog:6.0.12', team: 'catalog', replicas: 3, ageDays: 300, port: 8080, memory: '512Mi' },
  { name: 'cart', namespace: 'shop', image: 'cart:3.9.0', team: 'checkout', replicas: 3, ageDays: 290, port: 8080 },
  { name: 'checkout', namespace: 'shop', image: 'checkout:8.1.4', team: 'checkout', replicas: 3, ageDays: 288, port: 8080 },
  { name: 'search', namespace: 'shop', image: 'search:2.17.3', team: 'catalog', replicas: 2, ageDays: 120, port: 9200, memory: '2Gi' },
];

const payments: readonly DemoProgram[] = [
  { name: 'ledger', namespace: 'payments', image: 'ledger:4.4.0', team: 'payments', replicas: 2, ageDays: 260, port: 8443 },
  {
    name: 'fraud-check',
    namespace: 'payments',
    image: 'fraud-check:1.30.2',
    team: 'risk',
    replicas: 2,
    ageDays: 75,
    port: 8080,
    cpu: '500m',
  },
];

const stores: readonly DemoProgram[] = [
  {
    name: 'orders-db',
    namespace: 'data',
    image: 'docker.io/library/postgres:17.2',
    team: 'data',
    replicas: 3,
    ageDays: 305,
    port: 5432,
    memory: '4Gi',
  },
  {
    name: 'sessions',
    namespace: 'data',
    image: 'docker.io/library/redis:8.0',
    team: 'data',
    replicas: 2,
    ageDays: 210,
    port: 6379,
    memory: '1Gi',
  },
];

const exporter: DemoProgram = { name: '', namespace: 'batch', image: 'exporter:1.6.0', team: 'finance', ageDays: 30, cpu: '100m' };

function system(nowMs: number): KubernetesObject[] {
  const make = new Workloads(nowMs);
  const common = { namespace: 'kube-system', team: 'platform', ageDays: 400, cpu: '100m', memory: '70Mi' };
  return [
    ...make.deployment({ ...common, name: 'coredns', image: 'registry.k8s.io/coredns/coredns:v1.12.4', replicas: 2, port: 53 }),
    make.daemonSet({ ...common, name: 'kube-proxy', image: 'registry.k8s.io/kube-proxy:v1.36.3' }),
    make.daemonSet({ ...common, name: 'node-exporter', namespace: 'monitoring', image: 'quay.io/prometheus/node-exporter:v1.10.2' }),
    ...make.statefulSet({
      ...common,
      name: 'prometheus',
      namespace: 'monitoring',
      image: 'quay.io/prometheus/prometheus:v3.7.3',
      port: 9090,
      disk: '50Gi',
    }),
  ];
}

function settings(createdAt: string): KubernetesObject[] {
  const at = (name: string, namespace: string) => ({ name, namespace, creationTimestamp: createdAt, labels: { team: 'platform' } });
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: at('storefront-config', 'shop'),
      data: { 'features.yaml': 'newCheckout: true\n', currency: 'EUR' },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: at('ledger-credentials', 'payments'),
      type: 'Opaque',
      data: { password: 'bm90LWEtc2VjcmV0' },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: at('storefront', 'shop'),
      spec: { minAvailable: 2, selector: { matchLabels: { app: 'storefront' } } },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: at('storefront', 'shop'),
      spec: {
        ingressClassName: 'nginx',
        rules: [
          {
            host: 'www.shop.example',
            http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'storefront', port: { number: 8080 } } } }] },
          },
        ],
      },
    },
  ];
}

interface NodePool {
  readonly cluster: string;
  readonly count: number;
  readonly version: string;
  readonly region: string;
}

function nodesOf(nowMs: number, { cluster, count, version, region }: NodePool): KubernetesObject[] {
  const make = new Workloads(nowMs);
  const hardware: NodeHardware = {
    region,
    provider: 'aws',
    instanceType: 'm7i.2xlarge',
    kubeletVersion: version,
    cpu: '8',
    memory: '32Gi',
  };
  return Array.from({ length: count }, (_, index) => nodeOf(hardware, { cluster, index, createdAt: make.created(40 + index * 13) }));
}

function absent(node: KubernetesObject): KubernetesObject {
  return { ...node, metadata: { ...node.metadata, annotations: { [readyAnnotation]: 'false' } } };
}

function namespaceOf(name: string, creationTimestamp: string): KubernetesObject {
  const labels = { 'kubernetes.io/metadata.name': name, 'shop.example/environment': 'demo' };
  const metadata = { name, creationTimestamp, labels };
  return { apiVersion: 'v1', kind: 'Namespace', metadata, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
}
