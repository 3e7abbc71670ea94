import type { JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { kubernetesTime } from '../controllers/world.ts';

/** A program of the demo shop. */
export interface DemoProgram {
  readonly name: string;
  readonly namespace: string;
  readonly image: string;
  readonly team: string;
  readonly replicas?: number;
  readonly ageDays: number;
  /** The requested CPU; `memory` is the requested memory. Defaults: `250m` and `256Mi`. The memory limit is twice the request. */
  readonly cpu?: string;
  readonly memory?: string;
  /** Port of the Service. Default: no Service. */
  readonly port?: number;
  /** The annotation `sim/outcome` of the Pods, which `runPods` reads (controllers/kubelet.ts). Default: the Pods run and stay healthy. */
  readonly outcome?: 'crash' | 'no-image' | 'failed' | 'forever';
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** The ConfigMap with the environment variables of the program. Default: none. */
  readonly configMap?: string;
  /** Size of the volume of the single Pod, such as `50Gi`. The claim and the volume are created too. Default: no volume. */
  readonly disk?: string;
  /** The label `batch` of related Jobs in all clusters, and of their Pods. Default: no label. */
  readonly batch?: string;
}

const registry = 'registry.shop.example';
const dayMs = 86_400_000;

/** Builds the objects of programs as users would apply them. Their ages count back from `nowMs`. */
export class Workloads {
  readonly #nowMs: number;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  /** Returns the creation time for an age. */
  created(ageDays: number): string {
    return kubernetesTime(this.#nowMs - ageDays * dayMs);
  }

  /** Returns a Deployment, and its Service if it has a port. */
  deployment(program: DemoProgram): KubernetesObject[] {
    const spec = {
      replicas: program.replicas ?? 1,
      ...podsOf(program),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: 120,
    };
    return [{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: this.#metadata(program), spec }, ...this.#service(program)];
  }

  /** Returns a StatefulSet, its headless Service, and its volume. */
  statefulSet(program: DemoProgram): KubernetesObject[] {
    const { replicas = 1, name } = program;
    const spec = { replicas, serviceName: name, ...podsOf(program), updateStrategy: { type: 'RollingUpdate' } };
    const headless = { clusterIP: 'None', clusterIPs: ['None'] };
    const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: this.#metadata(program), spec };
    return [set, ...this.#service(program, headless), ...this.#disk(program)];
  }

  daemonSet(program: DemoProgram): KubernetesObject {
    const spec = { ...podsOf(program), updateStrategy: { type: 'RollingUpdate' } };
    return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: this.#metadata(program), spec };
  }

  job(program: DemoProgram, options: JobOptions = {}): KubernetesObject {
    return { apiVersion: 'batch/v1', kind: 'Job', metadata: this.#metadata(program), spec: jobSpecOf(program, options) };
  }

  cronJob(program: DemoProgram, schedule: string): KubernetesObject {
    const spec = {
      schedule,
      concurrencyPolicy: 'Forbid',
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
      jobTemplate: { metadata: { labels: { app: program.name, ...batchOf(program) } }, spec: jobSpecOf(program, {}) },
    };
    return { apiVersion: 'batch/v1', kind: 'CronJob', metadata: this.#metadata(program), spec };
  }

  #metadata(program: DemoProgram): KubernetesObject['metadata'] {
    const { name, namespace, team, ageDays } = program;
    return {
      name,
      namespace,
      creationTimestamp: this.created(ageDays),
      labels: { app: name, 'app.kubernetes.io/name': name, 'app.kubernetes.io/part-of': namespace, team, ...batchOf(program) },
      annotations: { 'shop.example/owner': `${team}@shop.example` },
    };
  }

  #disk(program: DemoProgram): KubernetesObject[] {
    const { disk, name, namespace } = program;
    if (disk === undefined) return [];
    const common = { accessModes: ['ReadWriteOnce'], storageClassName: 'gp3', volumeMode: 'Filesystem' };
    const { labels = {}, creationTimestamp = '' } = this.#metadata(program);
    const [claim, volume] = [claimOf(program), `pvc-${name}`];
    return [
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: claim, namespace, labels, creationTimestamp },
        spec: { ...common, resources: { requests: { storage: disk } }, volumeName: volume },
        status: { phase: 'Bound', accessModes: common.accessModes, capacity: { storage: disk } },
      },
      {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: volume, labels, creationTimestamp },
        spec: {
          ...common,
          capacity: { storage: disk },
          claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claim },
          persistentVolumeReclaimPolicy: 'Delete',
        },
        status: { phase: 'Bound' },
      },
    ];
  }

  #service(program: DemoProgram, extra: JsonObject = {}): KubernetesObject[] {
    const { port } = program;
    if (port === undefined) return [];
    const spec = { selector: { app: program.name }, ports: [{ name: 'http', port, targetPort: port, protocol: 'TCP' }], ...extra };
    return [{ apiVersion: 'v1', kind: 'Service', metadata: this.#metadata(program), spec }];
  }
}

function claimOf({ name }: DemoProgram): string {
  return `${name}-data`;
}

function podsOf(program: DemoProgram): JsonObject {
  return { selector: { matchLabels: { app: program.name } }, template: templateOf(program) };
}

export interface JobOptions {
  readonly completions?: number;
  readonly parallelism?: number;
  readonly backoffLimit?: number;
  readonly ttlSecondsAfterFinished?: number;
}

function jobSpecOf(program: DemoProgram, options: JobOptions): JsonObject {
  return { completions: 1, parallelism: 1, backoffLimit: 2, ...options, template: templateOf(program, 'Never') };
}

function templateOf(program: DemoProgram, restartPolicy = 'Always'): JsonObject {
  const { name, team, image, cpu = '250m', memory = '256Mi', port, outcome, env = {}, nodeSelector, configMap, disk } = program;
  const version = image.split(':')[1] ?? 'latest';
  const container: JsonObject = {
    name,
    image: image.includes('/') ? image : `${registry}/${image}`,
    ...(port === undefined ? {} : { ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }] }),
    env: Object.entries({ LOG_LEVEL: 'info', ...env }).map(([key, value]) => ({ name: key, value })),
    ...(configMap === undefined ? {} : { envFrom: [{ configMapRef: { name: configMap } }] }),
    ...(disk === undefined ? {} : { volumeMounts: [{ name: 'data', mountPath: '/data' }] }),
    resources: { requests: { cpu, memory }, limits: { memory: doubled(memory) } },
  };
  const volumes = disk === undefined ? {} : { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claimOf(program) } }] };
  return {
    metadata: {
      labels: { app: name, 'app.kubernetes.io/version': version, team, ...batchOf(program) },
      annotations: { 'prometheus.io/scrape': 'true', ...(outcome === undefined ? {} : { 'sim/outcome': outcome }) },
    },
    spec: { containers: [container], restartPolicy, ...volumes, ...(nodeSelector === undefined ? {} : { nodeSelector }) },
  };
}

function batchOf({ batch }: DemoProgram): { readonly batch?: string } {
  return batch === undefined ? {} : { batch };
}

function doubled(quantity: string): string {
  return quantity.replace(/^\d+/, (digits) => String(Number(digits) * 2));
}

export interface NodeHardware {
  readonly region: string;
  readonly provider: string;
  readonly instanceType: string;
  readonly kubeletVersion: string;
  readonly cpu: string;
  readonly memory: string;
}

export interface NodePlace {
  readonly cluster: string;
  readonly index: number;
  readonly createdAt: string;
}

/** Returns a node of that hardware, without conditions. */
export function nodeOf({ region, provider, instanceType, kubeletVersion, cpu, memory }: NodeHardware, place: NodePlace): KubernetesObject {
  const name = `${place.cluster}-node-${place.index}`;
  const zone = `${region}${'abc'[place.index % 3]}`;
  const capacity = { cpu, memory, pods: '110', 'ephemeral-storage': '100Gi' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      creationTimestamp: place.createdAt,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'node.kubernetes.io/instance-type': instanceType,
        'topology.kubernetes.io/region': region,
        'topology.kubernetes.io/zone': zone,
      },
    },
    spec: { podCIDR: `10.244.${place.index}.0/24`, providerID: `${provider}:///${zone}/i-${place.cluster}-${place.index}` },
    status: {
      capacity,
      allocatable: capacity,
      addresses: [
        { type: 'InternalIP', address: `10.0.${place.index}.10` },
        { type: 'Hostname', address: name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        architecture: 'amd64',
        operatingSystem: 'linux',
        osImage: 'Flatcar Container Linux 4230.2',
        kernelVersion: '6.12.58-flatcar',
        containerRuntimeVersion: 'containerd://2.1.5',
        kubeletVersion,
        kubeProxyVersion: '',
        machineID: '',
        systemUUID: '',
        bootID: '',
      },
    },
  };
}
