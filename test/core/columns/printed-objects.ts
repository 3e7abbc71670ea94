import type { JsonObject } from '../../../src/core/json.ts';
import { container, containers, podStates, sidecars } from '../../model/columns/pod-states.ts';
import { furtherObjects } from './further-objects.ts';
import { type PrintedObject, place } from './printed-object.ts';

const [core, apps, batch] = ['/api/v1', '/apis/apps/v1', '/apis/batch/v1'];
const within = (group: string, plural: string) => `${group}/namespaces/${place}/${plural}`;
const at = '2026-01-01T00:00:00Z';
const later = '2026-01-01T00:05:07Z';
const day = '2026-01-02T03:00:00Z';
const condition = (type: string, status = 'True', more: JsonObject = {}) => ({ type, status, lastTransitionTime: at, ...more });

const template = (app: string, spec: JsonObject = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [...containers('web', 'log')], ...spec },
});
const selector = (app: string) => ({ selector: { matchLabels: { app } } });
const restarted = (finishedAt: string) => ({ lastState: { terminated: { exitCode: 1, startedAt: at, finishedAt } } });
const runs = { running: { startedAt: at } };

const pods: readonly PrintedObject[] = [
  ...podStates.map(({ name, spec, status, deleted }) => ({
    collection: within(core, 'pods'),
    object: { metadata: { name }, spec: { containers: containers('web'), ...spec } },
    status,
    ...(deleted === undefined ? {} : { deleted }),
  })),
  {
    collection: within(core, 'pods'),
    object: {
      metadata: { name: 'wide-of-all' },
      spec: {
        ...template('web').spec,
        nodeName: 'worker',
        readinessGates: ['a', 'b', 'c'].map((one) => ({ conditionType: `example.com/${one}` })),
      },
    },
    status: {
      phase: 'Running',
      podIPs: [{ ip: '10.0.0.7' }, { ip: 'fd00::7' }],
      conditions: [condition('example.com/a'), condition('example.com/b', 'False')],
      containerStatuses: [
        container('web', runs, { ready: true, started: true, restartCount: 3, ...restarted(at) }),
        container('log', runs, { restartCount: 2, ...restarted(day) }),
      ],
    },
  },
  {
    collection: within(core, 'pods'),
    object: { metadata: { name: 'nominated' }, spec: { containers: containers('web') } },
    status: { phase: 'Pending', nominatedNodeName: 'other' },
  },
  {
    collection: within(core, 'pods'),
    object: {
      metadata: { name: 'restarted-sidecar' },
      spec: { containers: containers('web'), initContainers: [...containers('fetch'), ...sidecars('proxy')] },
    },
    status: {
      phase: 'Running',
      conditions: [condition('Initialized')],
      initContainerStatuses: [
        container('fetch', { terminated: { exitCode: 0, startedAt: at, finishedAt: at } }, { restartCount: 4, ...restarted(day) }),
        container('proxy', runs, { ready: true, started: true, restartCount: 2, ...restarted(later) }),
      ],
      containerStatuses: [container('web', runs, { ready: true, started: true })],
    },
  },
  {
    collection: within(core, 'pods'),
    object: { metadata: { name: 'restarting-init' }, spec: { containers: containers('web'), initContainers: containers('fetch') } },
    status: {
      phase: 'Pending',
      initContainerStatuses: [container('fetch', runs, { restartCount: 4, ...restarted(day) })],
      containerStatuses: [container('web', { waiting: { reason: 'PodInitializing' } })],
    },
  },
];

const workloads: readonly PrintedObject[] = [
  ...[0, 3].map((replicas) => ({
    collection: within(apps, 'deployments'),
    object: { metadata: { name: `deployment-${replicas}` }, spec: { replicas, ...selector('web'), template: template('web') } },
    status: replicas === 0 ? {} : { replicas: 4, updatedReplicas: 3, readyReplicas: 2, availableReplicas: 1, unavailableReplicas: 3 },
  })),
  {
    collection: within(apps, 'deployments'),
    object: {
      metadata: { name: 'choosy' },
      spec: {
        selector: {
          matchLabels: { app: 'web' },
          matchExpressions: [
            { key: 'tier', operator: 'In', values: ['front', 'back'] },
            { key: 'app', operator: 'NotIn', values: ['old'] },
            { key: 'canary', operator: 'DoesNotExist' },
            { key: 'zone', operator: 'Exists' },
          ],
        },
        template: { ...template('web'), metadata: { labels: { app: 'web', tier: 'front', zone: 'a' } } },
      },
    },
  },
  {
    collection: within(apps, 'replicasets'),
    object: { metadata: { name: 'replicas' }, spec: { replicas: 3, ...selector('web'), template: template('web') } },
    status: { replicas: 3, readyReplicas: 2 },
  },
  {
    collection: within(apps, 'statefulsets'),
    object: { metadata: { name: 'stateful' }, spec: { serviceName: 'web', replicas: 2, ...selector('web'), template: template('web') } },
    status: { replicas: 2, readyReplicas: 1 },
  },
  ...[{}, { nodeSelector: { disk: 'ssd', 'a.example/b': 'c' } }].map((spec, index) => ({
    collection: within(apps, 'daemonsets'),
    object: { metadata: { name: `daemons-${index}` }, spec: { ...selector('web'), template: template('web', spec) } },
    status: {
      currentNumberScheduled: 4,
      desiredNumberScheduled: 5,
      numberMisscheduled: 0,
      numberReady: 3,
      updatedNumberScheduled: 2,
      numberAvailable: 1,
    },
  })),
];

const job = (name: string, spec: JsonObject = {}, status: JsonObject = {}, more: Partial<PrintedObject> = {}): PrintedObject => ({
  collection: within(batch, 'jobs'),
  object: { metadata: { name }, spec: { ...spec, template: { spec: { ...template('job').spec, restartPolicy: 'Never' } } } },
  status,
  ...more,
});

const jobs: readonly PrintedObject[] = [
  job('new'),
  job('queue', { parallelism: 3 }, { startTime: at, active: 3 }),
  job('some', { completions: 5, parallelism: 2 }, { startTime: at, active: 2, succeeded: 3 }),
  job(
    'done',
    {},
    { startTime: at, completionTime: later, succeeded: 1, conditions: [condition('SuccessCriteriaMet'), condition('Complete')] },
  ),
  job('failed', {}, { startTime: at, failed: 1, conditions: [condition('FailureTarget'), condition('Failed')] }),
  job('failing', {}, { startTime: at, failed: 1, conditions: [condition('FailureTarget')] }),
  job('suspended', { suspend: true }, { conditions: [condition('Suspended')] }),
  job('going', {}, { startTime: at }, { deleted: true }),
  ...[{ schedule: '*/5 * * * *' }, { schedule: '@daily', timeZone: 'Etc/UTC', suspend: true }].map((spec, index) => ({
    collection: within(batch, 'cronjobs'),
    object: {
      metadata: { name: `cron-${index}` },
      spec: { ...spec, jobTemplate: { spec: { template: { spec: { ...template('job').spec, restartPolicy: 'Never' } } } } },
    },
    status: index === 0 ? {} : { active: [{ name: 'a' }, { name: 'b' }], lastScheduleTime: day },
  })),
];

const service = (name: string, spec: JsonObject, ingress: readonly JsonObject[] = []): PrintedObject => ({
  collection: within(core, 'services'),
  object: { metadata: { name }, spec },
  status: { loadBalancer: { ingress } },
});
const port = { name: 'http', port: 80 };

const networks: readonly PrintedObject[] = [
  service('plain', { ports: [port, { name: 'dns', port: 53, protocol: 'UDP' }], selector: { app: 'web', tier: 'front' } }),
  service('headless', { clusterIP: 'None' }),
  service('outside', { ports: [port], externalIPs: ['192.0.2.1', '192.0.2.2'] }),
  service('node-port', { type: 'NodePort', ports: [{ ...port, nodePort: 30080 }] }),
  service('named', { type: 'ExternalName', externalName: 'web.example.com' }),
  service('pending', { type: 'LoadBalancer', ports: [{ ...port, nodePort: 30081 }] }),
  service('balanced', { type: 'LoadBalancer', ports: [{ ...port, nodePort: 30082 }], externalIPs: ['192.0.2.9'] }, [
    { hostname: 'lb.example.com' },
    { ip: '192.0.2.7' },
    { ip: '192.0.2.7' },
  ]),
  ...[
    [],
    [{ host: 'a.example.com' }],
    [{ host: 'a.example.com' }, {}, { host: 'b.example.com' }, { host: 'c.example.com' }],
    ['a', 'b', 'c', 'd', 'e'].map((name) => ({ host: `${name}.example.com` })),
  ].map((rules, index) => ({
    collection: within('/apis/networking.k8s.io/v1', 'ingresses'),
    object: {
      metadata: { name: `ingress-${index}` },
      spec: {
        defaultBackend: { service: { name: 'web', port: { number: 80 } } },
        rules,
        ...(index === 1 ? { ingressClassName: 'nginx', tls: [{ hosts: ['a.example.com'], secretName: 'cert' }] } : {}),
      },
    },
    status: index === 1 ? { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'ingress.example.com' }] } } : {},
  })),
];

const node = (
  name: string,
  more: { readonly labels?: JsonObject; readonly spec?: JsonObject; readonly status?: JsonObject } = {},
): PrintedObject => ({
  collection: `${core}/nodes`,
  object: { metadata: { name, labels: more.labels ?? {} }, spec: more.spec ?? {} },
  status: more.status ?? {},
});

const clusters: readonly PrintedObject[] = [
  node('silent'),
  node('worker', {
    labels: { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/gpu': '', 'kubernetes.io/role': 'old' },
    status: {
      conditions: [condition('MemoryPressure', 'False'), condition('Ready')],
      addresses: [
        { type: 'Hostname', address: 'worker' },
        { type: 'InternalIP', address: '10.0.0.1' },
        { type: 'ExternalIP', address: '192.0.2.1' },
      ],
      nodeInfo: {
        kubeletVersion: 'v1.36.3',
        osImage: 'Some Linux 1',
        kernelVersion: '6.1.0',
        containerRuntimeVersion: 'containerd://2.1',
        architecture: 'amd64',
        bootID: '',
        kubeProxyVersion: '',
        machineID: '',
        operatingSystem: '',
        systemUUID: '',
      },
    },
  }),
  node('cordoned', { spec: { unschedulable: true }, status: { conditions: [condition('Ready', 'Unknown')] } }),
  { collection: within(core, 'configmaps'), object: { metadata: { name: 'empty' } } },
  { collection: within(core, 'configmaps'), object: { metadata: { name: 'full' }, data: { a: '1', b: '2' }, binaryData: { c: 'YQ==' } } },
];

const claim = (
  name: string,
  spec: JsonObject,
  more: Omit<PrintedObject, 'collection' | 'object'> & { readonly annotations?: JsonObject } = {},
): PrintedObject => {
  const { annotations = {}, ...rest } = more;
  const usual = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  return {
    collection: within(core, 'persistentvolumeclaims'),
    object: { metadata: { name, annotations }, spec: { ...usual, ...spec } },
    ...rest,
  };
};
const volume = (name: string, spec: JsonObject, status: JsonObject = {}, deleted = false): PrintedObject => ({
  collection: `${core}/persistentvolumes`,
  object: {
    metadata: { name },
    spec: {
      capacity: { storage: '1024Mi' },
      accessModes: ['ReadWriteMany', 'ReadWriteOnce', 'ReadOnlyMany'],
      hostPath: { path: '/tmp' },
      ...spec,
    },
  },
  status,
  deleted,
});

const storage: readonly PrintedObject[] = [
  claim('waiting', {}),
  claim(
    'bound',
    { volumeName: 'volume', storageClassName: 'fast', volumeMode: 'Block' },
    { status: { phase: 'Bound', capacity: { storage: '1024Mi' }, accessModes: ['ReadWriteMany', 'ReadWriteOnce'] } },
  ),
  claim('old-class', {}, { annotations: { 'volume.beta.kubernetes.io/storage-class': 'older' }, status: { phase: 'Lost' } }),
  claim('going', { volumeName: 'gone' }, { deleted: true }),
  volume('fresh', {}),
  volume(
    'used',
    {
      storageClassName: 'fast',
      persistentVolumeReclaimPolicy: 'Delete',
      claimRef: { namespace: place, name: 'bound' },
      accessModes: ['ReadWriteOncePod'],
    },
    { phase: 'Failed', reason: 'NoSuchDisk' },
  ),
  volume('vanishing', {}, { phase: 'Bound' }, true),
];

const metricOf = (name: string, target: JsonObject) => ({ type: 'Resource', resource: { name, target } });
const half = { type: 'Utilization', averageUtilization: 50 };
const autoscaler = (name: string, spec: JsonObject, status: JsonObject = {}): PrintedObject => ({
  collection: within('/apis/autoscaling/v2', 'horizontalpodautoscalers'),
  object: {
    metadata: { name },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 9, ...spec },
  },
  status: { desiredReplicas: 1, currentReplicas: 1, conditions: [], ...status },
});
const external = (target: JsonObject) => ({ type: 'External', external: { metric: { name: 'queue' }, target } });
const object = (target: JsonObject) => ({
  type: 'Object',
  object: { metric: { name: 'hits' }, describedObject: { kind: 'Service', name: 'web' }, target },
});
const podsMetric = { type: 'Pods', pods: { metric: { name: 'load' }, target: { type: 'AverageValue', averageValue: '5' } } };
const ofContainer = (target: JsonObject) => ({
  type: 'ContainerResource',
  containerResource: { container: 'web', name: 'memory', target },
});
const value = { type: 'Value', value: '10' };
const average = { type: 'AverageValue', averageValue: '100m' };

const autoscalers: readonly PrintedObject[] = [
  autoscaler('default', { minReplicas: 2 }),
  autoscaler('unknown', { metrics: [metricOf('cpu', half), podsMetric] }),
  autoscaler(
    'many',
    { metrics: [metricOf('cpu', half), metricOf('memory', average), podsMetric, external(value)] },
    {
      currentReplicas: 4,
      currentMetrics: [
        { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 71, averageValue: '71m' } } },
        { type: 'Resource', resource: { name: 'memory', current: { averageValue: '12345678' } } },
      ],
    },
  ),
  autoscaler(
    'external',
    { metrics: [external(value), external(average)] },
    {
      currentMetrics: [
        { type: 'External', external: { metric: { name: 'queue' }, current: { value: '12' } } },
        { type: 'External', external: { metric: { name: 'queue' }, current: { averageValue: '3' } } },
      ],
    },
  ),
  autoscaler(
    'object',
    { metrics: [object(value), object(average)] },
    {
      currentMetrics: [
        {
          type: 'Object',
          object: { metric: { name: 'hits' }, describedObject: { kind: 'Service', name: 'web' }, current: { value: '7' } },
        },
      ],
    },
  ),
  autoscaler(
    'container',
    { metrics: [ofContainer(half), ofContainer(average)] },
    {
      currentMetrics: [
        {
          type: 'ContainerResource',
          containerResource: { container: 'web', name: 'memory', current: { averageUtilization: 20, averageValue: '1' } },
        },
      ],
    },
  ),
];

const event = (name: string, more: JsonObject): PrintedObject => ({
  collection: within(core, 'events'),
  object: {
    metadata: { name },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'web', namespace: place },
    type: 'Normal',
    reason: 'Started',
    message: 'it began',
    ...more,
  },
});

const events: readonly PrintedObject[] = [
  event('bare', {}),
  event('counted', {
    type: 'Warning',
    firstTimestamp: at,
    lastTimestamp: later,
    count: 7,
    source: { component: 'kubelet', host: 'worker' },
    involvedObject: { kind: 'Pod', name: 'web', namespace: place, fieldPath: 'spec.containers{web}' },
    message: '  first line\nsecond line\n',
  }),
  event('single', {
    eventTime: '2026-01-01T00:00:00.123456Z',
    reportingComponent: 'example.com/scheduler',
    reportingInstance: 'scheduler-1',
    action: 'Binding',
  }),
  event('series', {
    eventTime: '2026-01-01T00:00:00.123456Z',
    series: { count: 3, lastObservedTime: '2026-01-02T00:00:00.000000Z' },
    reportingComponent: 'example.com/scheduler',
    reportingInstance: 'scheduler-1',
    action: 'Binding',
  }),
];

/** Objects of every built-in kind, in all states that their columns distinguish. */
export const printedObjects: readonly PrintedObject[] = [
  ...pods,
  ...workloads,
  ...jobs,
  ...networks,
  ...clusters,
  ...storage,
  ...autoscalers,
  ...events,
  ...furtherObjects,
];
