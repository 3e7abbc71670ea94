import { createHash } from 'node:crypto';

/** Replicas per controller, as in docs/internals/mirror.md. They differ only in name, uid, versions, node, address and times. */
const replicasPerOwner = 12;

/** The fields that differ between two states of one pod, such as before and after an update by its kubelet. */
export interface PodState {
  readonly revision?: number;
  readonly version?: string;
}

/**
 * Creates a pod as a real cluster lists it: about 6.1 KB of JSON, of which 2.1 KB are managedFields. Items of a list have no kind and
 * apiVersion.
 *
 * @param index The same index gives the same pod.
 */
export function podOf(index: number, { revision = 0, version = String(1_000_000 + index) }: PodState = {}): object {
  const owner = Math.floor(index / replicasPerOwner);
  const app = `service-${owner}`;
  const hash = digest(`template-${owner}`).slice(0, 10);
  const namespace = `team-${owner % 40}`;
  const started = timeOf(owner * 60 + (index % replicasPerOwner));
  return {
    metadata: {
      name: `${app}-${hash}-${digest(`pod-${index}`).slice(0, 5)}`,
      generateName: `${app}-${hash}-`,
      namespace,
      uid: uuid(`pod-${index}`),
      resourceVersion: version,
      generation: 1,
      creationTimestamp: started,
      labels: {
        app,
        'app.kubernetes.io/name': app,
        'app.kubernetes.io/part-of': `system-${owner % 17}`,
        'app.kubernetes.io/version': `1.${owner % 30}.0`,
        'pod-template-hash': hash,
        tier: owner % 3 === 0 ? 'frontend' : 'backend',
      },
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9090', 'kubectl.kubernetes.io/restartedAt': timeOf(owner) },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `${app}-${hash}`,
          uid: uuid(`owner-${owner}`),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: managedFields(app, started),
    },
    spec: specOf(app, owner, index),
    status: statusOf(app, index, { started, revision }),
  };
}

/** Creates the same pod with this number of environment variables, which the replicas of an owner share. */
export function podWithEnvironment(index: number, values: number): object {
  const pod = podOf(index) as { readonly spec: { readonly containers: readonly object[] } };
  const owner = Math.floor(index / replicasPerOwner);
  const env = Array.from({ length: values }, (_, n) => ({ name: `SETTING_${n}`, value: `value-${n}-of-service-${owner}` }));
  return { ...pod, spec: { ...pod.spec, containers: pod.spec.containers.map((container) => ({ ...container, env })) } };
}

function specOf(app: string, owner: number, index: number): object {
  return {
    volumes: [
      { name: 'config', configMap: { name: `${app}-config`, defaultMode: 420 } },
      {
        name: 'kube-api-access',
        projected: {
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
          ],
          defaultMode: 420,
        },
      },
    ],
    containers: [
      {
        name: 'main',
        image: `registry.example.com/${app}:1.${owner % 30}.0`,
        ports: [
          { name: 'http', containerPort: 8080, protocol: 'TCP' },
          { name: 'metrics', containerPort: 9090, protocol: 'TCP' },
        ],
        env: [
          { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
          { name: 'LOG_LEVEL', value: 'info' },
          { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: `${app}-database`, key: 'url' } } },
        ],
        resources: { limits: { cpu: '500m', memory: '512Mi' }, requests: { cpu: '100m', memory: '256Mi' } },
        volumeMounts: [
          { name: 'config', readOnly: true, mountPath: '/etc/config' },
          { name: 'kube-api-access', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
        ],
        livenessProbe: {
          httpGet: { path: '/healthz', port: 'http', scheme: 'HTTP' },
          initialDelaySeconds: 10,
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        readinessProbe: {
          httpGet: { path: '/ready', port: 'http', scheme: 'HTTP' },
          timeoutSeconds: 1,
          periodSeconds: 5,
          successThreshold: 1,
          failureThreshold: 3,
        },
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
        securityContext: { runAsNonRoot: true, allowPrivilegeEscalation: false },
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: app,
    serviceAccount: app,
    nodeName: `node-${index % 211}`,
    securityContext: {},
    schedulerName: 'default-scheduler',
    tolerations: [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
  };
}

function statusOf(app: string, index: number, { started, revision }: { started: string; revision: number }): object {
  const at = revision === 0 ? started : timeOf(1_000_000 + revision);
  const address = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  return {
    phase: 'Running',
    conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: type === 'Ready' ? at : started,
    })),
    hostIP: `192.168.0.${index % 211}`,
    hostIPs: [{ ip: `192.168.0.${index % 211}` }],
    podIP: address,
    podIPs: [{ ip: address }],
    startTime: started,
    containerStatuses: [
      {
        name: 'main',
        state: { running: { startedAt: started } },
        lastState: {},
        ready: true,
        restartCount: revision,
        image: `registry.example.com/${app}:1.0.0`,
        imageID: `registry.example.com/${app}@sha256:${digest(app)}`,
        containerID: `containerd://${digest(`container-${index}`)}`,
        started: true,
      },
    ],
    qosClass: 'Burstable',
  };
}

function managedFields(app: string, time: string): object[] {
  const names = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [`f:${key}`, {}]));
  const container = {
    '.': {},
    ...names(['image', 'imagePullPolicy', 'name', 'terminationMessagePath', 'terminationMessagePolicy', 'securityContext']),
    'f:resources': {
      '.': {},
      'f:limits': { '.': {}, 'f:cpu': {}, 'f:memory': {} },
      'f:requests': { '.': {}, 'f:cpu': {}, 'f:memory': {} },
    },
    'f:livenessProbe': {
      '.': {},
      'f:failureThreshold': {},
      'f:httpGet': { '.': {}, 'f:path': {}, 'f:port': {}, 'f:scheme': {} },
      'f:initialDelaySeconds': {},
      'f:periodSeconds': {},
    },
    'f:volumeMounts': { '.': {}, 'k:{"mountPath":"/etc/config"}': { '.': {}, 'f:mountPath': {}, 'f:name': {}, 'f:readOnly': {} } },
  };
  const conditions = Object.fromEntries(
    ['ContainersReady', 'Initialized', 'PodReadyToStartContainers', 'Ready'].map((type) => [
      `k:{"type":"${type}"}`,
      { '.': {}, 'f:lastProbeTime': {}, 'f:lastTransitionTime': {}, 'f:status': {}, 'f:type': {} },
    ]),
  );
  return [
    {
      manager: 'kube-controller-manager',
      operation: 'Update',
      apiVersion: 'v1',
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:metadata': {
          'f:generateName': {},
          'f:labels': { '.': {}, ...names(['app', 'app.kubernetes.io/name', 'pod-template-hash', 'tier']) },
          'f:ownerReferences': { '.': {}, [`k:{"uid":"${uuid(app)}"}`]: {} },
        },
        'f:spec': {
          'f:containers': { 'k:{"name":"main"}': container },
          ...names([
            'dnsPolicy',
            'enableServiceLinks',
            'restartPolicy',
            'schedulerName',
            'securityContext',
            'serviceAccount',
            'serviceAccountName',
            'terminationGracePeriodSeconds',
          ]),
        },
      },
    },
    {
      manager: 'kubelet',
      operation: 'Update',
      apiVersion: 'v1',
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:status': {
          'f:conditions': conditions,
          ...names(['containerStatuses', 'hostIP', 'hostIPs', 'phase', 'podIP', 'startTime']),
          'f:podIPs': { '.': {}, 'k:{"ip":"10.0.0.1"}': { '.': {}, 'f:ip': {} } },
        },
      },
      subresource: 'status',
    },
  ];
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

function uuid(text: string): string {
  const hex = digest(text);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const timeOf = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString().replace('.000Z', 'Z');
