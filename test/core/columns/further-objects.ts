import type { JsonObject } from '../../../src/core/json.ts';
import { containers } from '../../model/columns/pod-states.ts';
import { type PrintedObject, place } from './printed-object.ts';

// Objects of the kinds whose columns are read from fields (src/cli/columns/built-in-tables.ts).

type Metadata = JsonObject & { readonly name: string };

const made = (
  [group, plural, scope]: readonly [group: string, plural: string, scope: 'cluster' | 'namespace'],
  metadata: Metadata,
  body: JsonObject = {},
  more: Omit<PrintedObject, 'collection' | 'object'> = {},
): PrintedObject => ({
  collection: `${group}/${scope === 'namespace' ? `namespaces/${place}/` : ''}${plural}`,
  object: { metadata, ...body },
  ...more,
});

const core = '/api/v1';
const of = (group: string) => `/apis/${group}/v1`;
const [admission, storage, network, rbac, devices] = [
  of('admissionregistration.k8s.io'),
  of('storage.k8s.io'),
  of('networking.k8s.io'),
  of('rbac.authorization.k8s.io'),
  of('resource.k8s.io'),
];
const template = (labels: JsonObject) => ({ metadata: { labels }, spec: { containers: containers('web', 'log') } });
/** The webhooks intercept no object of the fleet. */
const nothing = { apiGroups: ['nothing.example.com'], apiVersions: ['v1'], resources: ['nothings'], operations: ['CREATE'] };

const workloads: readonly PrintedObject[] = [
  made(
    [core, 'replicationcontrollers', 'namespace'],
    { name: 'controller' },
    { spec: { replicas: 3, selector: { tier: 'back', app: 'web' }, template: template({ app: 'web', tier: 'back' }) } },
    { status: { replicas: 2, readyReplicas: 1 } },
  ),
  made([core, 'replicationcontrollers', 'namespace'], { name: 'idle' }, { spec: { replicas: 0, template: template({ app: 'web' }) } }),
  made([core, 'podtemplates', 'namespace'], { name: 'bare' }, { template: { spec: { containers: containers('web') } } }),
  made([core, 'podtemplates', 'namespace'], { name: 'labelled' }, { template: template({ tier: 'back', app: 'web' }) }),
  made(
    [of('apps'), 'controllerrevisions', 'namespace'],
    { name: 'owned', ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'a', controller: true }] },
    { revision: 7, data: {} },
  ),
  made(
    [of('apps'), 'controllerrevisions', 'namespace'],
    { name: 'of-core', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'a', controller: true }] },
    { revision: 1, data: {} },
  ),
  made([of('apps'), 'controllerrevisions', 'namespace'], { name: 'orphan' }, { revision: 0, data: {} }),
  made(
    [of('policy'), 'poddisruptionbudgets', 'namespace'],
    { name: 'least' },
    { spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } } },
    { status: { disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3 } },
  ),
  made([of('policy'), 'poddisruptionbudgets', 'namespace'], { name: 'most' }, { spec: { maxUnavailable: '25%', selector: {} } }),
  made([of('policy'), 'poddisruptionbudgets', 'namespace'], { name: 'none' }, { spec: { selector: {} } }),
  made(
    [of('scheduling.k8s.io'), 'priorityclasses', 'cluster'],
    { name: 'high' },
    { value: 1000, globalDefault: true, preemptionPolicy: 'Never' },
  ),
  made([of('node.k8s.io'), 'runtimeclasses', 'cluster'], { name: 'sandbox' }, { handler: 'gvisor' }),
];

const limits: readonly PrintedObject[] = [
  made([core, 'limitranges', 'namespace'], { name: 'limits' }, { spec: { limits: [{ type: 'Pod', max: { memory: '1Gi' } }] } }),
  made([core, 'resourcequotas', 'namespace'], { name: 'fresh' }, { spec: { hard: { pods: '10' } } }),
  made(
    [core, 'resourcequotas', 'namespace'],
    { name: 'used' },
    { spec: { hard: { pods: '10' } } },
    {
      status: {
        hard: { pods: '10', 'limits.cpu': '4', 'requests.cpu': '1500m', 'limits.memory': '8Gi' },
        used: { pods: '3', 'limits.cpu': '500m' },
      },
    },
  ),
  made([core, 'serviceaccounts', 'namespace'], { name: 'web' }),
  made([core, 'secrets', 'namespace'], { name: 'token' }, { type: 'example.com/token', stringData: { a: '1', b: '2' } }),
  made([of('coordination.k8s.io'), 'leases', 'namespace'], { name: 'held' }, { spec: { holderIdentity: 'me' } }),
  made([of('coordination.k8s.io'), 'leases', 'namespace'], { name: 'free' }, { spec: {} }),
];

const addresses = (...ips: readonly string[]) => ips.map((ip) => ({ ip }));
const endpoints = (...all: readonly string[]) => all.map((address) => ({ addresses: [address] }));
const networks: readonly PrintedObject[] = [
  made([core, 'endpoints', 'namespace'], { name: 'empty' }),
  made([core, 'endpoints', 'namespace'], { name: 'portless' }, { subsets: [{ addresses: addresses('10.1.0.1', '10.1.0.2') }] }),
  made(
    [core, 'endpoints', 'namespace'],
    { name: 'unready' },
    { subsets: [{ notReadyAddresses: addresses('10.1.0.1'), ports: [{ port: 80 }] }] },
  ),
  made(
    [core, 'endpoints', 'namespace'],
    { name: 'many' },
    {
      subsets: [
        {
          addresses: addresses('10.1.0.1', 'fd00::7'),
          ports: [
            { name: 'a', port: 80 },
            { name: 'b', port: 443 },
          ],
        },
      ],
    },
  ),
  made([of('discovery.k8s.io'), 'endpointslices', 'namespace'], { name: 'empty' }, { addressType: 'IPv4', endpoints: [] }),
  made(
    [of('discovery.k8s.io'), 'endpointslices', 'namespace'],
    { name: 'some' },
    { addressType: 'IPv4', endpoints: endpoints('10.1.0.1', '10.1.0.2'), ports: [{ name: 'http', port: 80 }, { name: 'any' }, {}] },
  ),
  made(
    [of('discovery.k8s.io'), 'endpointslices', 'namespace'],
    { name: 'many' },
    {
      addressType: 'IPv6',
      endpoints: endpoints('fd00::1', 'fd00::2', 'fd00::3', 'fd00::4', 'fd00::5'),
      ports: ['a', 'b', 'c', 'd'].map((name, index) => ({ name, port: 80 + index })),
    },
  ),
  made(
    [network, 'ingressclasses', 'cluster'],
    { name: 'default', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
    { spec: { controller: 'example.com/ingress' } },
  ),
  made(
    [network, 'ingressclasses', 'cluster'],
    { name: 'with-parameters' },
    {
      spec: {
        controller: 'example.com/ingress',
        parameters: { apiGroup: 'example.com', kind: 'Settings', name: 'usual', scope: 'Cluster' },
      },
    },
  ),
  made(
    [network, 'ingressclasses', 'cluster'],
    { name: 'with-core-parameters' },
    { spec: { controller: 'example.com/ingress', parameters: { kind: 'ConfigMap', name: 'usual', namespace: place, scope: 'Namespace' } } },
  ),
  made(
    [network, 'ipaddresses', 'cluster'],
    { name: '10.0.0.77' },
    { spec: { parentRef: { group: 'example.com', resource: 'Gadgets', name: 'web' } } },
  ),
  made([network, 'servicecidrs', 'cluster'], { name: 'further' }, { spec: { cidrs: ['10.7.0.0/16', 'fd00:7::/64'] } }),
  made([network, 'networkpolicies', 'namespace'], { name: 'all' }, { spec: { podSelector: {} } }),
  made(
    [network, 'networkpolicies', 'namespace'],
    { name: 'some' },
    {
      spec: {
        podSelector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['front', 'back'] }] },
      },
    },
  ),
];

/** A PKCS#10 request of the name `web`. */
const signingRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISU1IQUNBUUF3RGpFTU1Bb0dBMVVFQXd3RGQyVmlNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRApRZ0FFWmx5TTc2RkdMTTNyR2V0MFBWcS9zR2pISWI2UmN4U3JvTGFWWGp0MmJCOGdFdG9UeWY1TTRZZThNN0EvCnpWeTNCYk1yenFuRG1XQ3Z0bDEzTmNmakhhQUFNQW9HQ0NxR1NNNDlCQU1DQTBnQU1FVUNJQnI2bDIxOUNKTDQKQk9yQlI2enpVSHBFaFR5V3h4RDZXV3NyQS9XY0d2WmpBaUVBbkxJMXFPMVJoeDV4Q2VGOVMwaURlMFV1WWN4WApBcE40cFVLZmxqbzdDVDQ9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';

const subjects = [
  { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'ann' },
  { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'ben' },
  { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'admins' },
  { kind: 'ServiceAccount', namespace: place, name: 'web' },
];
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
const rights: readonly PrintedObject[] = [
  made([rbac, 'rolebindings', 'namespace'], { name: 'everybody' }, { roleRef, subjects }),
  made([rbac, 'rolebindings', 'namespace'], { name: 'nobody' }, { roleRef: { ...roleRef, kind: 'Role' } }),
  made([rbac, 'clusterrolebindings', 'cluster'], { name: 'everybody' }, { roleRef, subjects }),
  made([rbac, 'roles', 'namespace'], { name: 'empty' }),
  ...['waiting', 'approved', 'denied'].map((name) =>
    made(
      [of('certificates.k8s.io'), 'certificatesigningrequests', 'cluster'],
      { name },
      {
        spec: {
          request: signingRequest,
          signerName: 'example.com/signer',
          usages: ['client auth'],
          ...(name === 'waiting' ? {} : { expirationSeconds: 5400 }),
        },
      },
      name === 'waiting'
        ? {}
        : {
            status: { conditions: [{ type: name === 'approved' ? 'Approved' : 'Denied', status: 'True', reason: 'Because' }] },
            subresource: 'approval',
          },
    ),
  ),
];

const storages: readonly PrintedObject[] = [
  made(
    [storage, 'storageclasses', 'cluster'],
    { name: 'usual', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    { provisioner: 'example.com/disk' },
  ),
  made(
    [storage, 'storageclasses', 'cluster'],
    { name: 'late' },
    { provisioner: 'example.com/disk', reclaimPolicy: 'Retain', volumeBindingMode: 'WaitForFirstConsumer', allowVolumeExpansion: true },
  ),
  made(
    [storage, 'volumeattachments', 'cluster'],
    { name: 'attached' },
    { spec: { attacher: 'disk.example.com', nodeName: 'worker', source: { persistentVolumeName: 'fresh' } } },
    { status: { attached: true } },
  ),
  made(
    [storage, 'volumeattachments', 'cluster'],
    { name: 'waiting' },
    { spec: { attacher: 'disk.example.com', nodeName: 'worker', source: { persistentVolumeName: 'fresh' } } },
  ),
  made([storage, 'volumeattributesclasses', 'cluster'], { name: 'gold' }, { driverName: 'disk.example.com', parameters: { iops: '9' } }),
  made([storage, 'csidrivers', 'cluster'], { name: 'usual.example.com' }, { spec: {} }),
  made(
    [storage, 'csidrivers', 'cluster'],
    { name: 'unusual.example.com' },
    {
      spec: {
        attachRequired: false,
        podInfoOnMount: true,
        storageCapacity: true,
        requiresRepublish: true,
        tokenRequests: [{ audience: 'a' }, { audience: 'b' }],
        volumeLifecycleModes: ['Persistent', 'Ephemeral'],
      },
    },
  ),
  made(
    [storage, 'csinodes', 'cluster'],
    { name: 'worker' },
    { spec: { drivers: [{ name: 'disk.example.com', nodeID: 'n', topologyKeys: [] }] } },
  ),
  made([storage, 'csistoragecapacities', 'namespace'], { name: 'room' }, { storageClassName: 'usual', capacity: '10Gi' }),
];

const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
const webhook = {
  name: 'web.example.com',
  clientConfig: { url: 'https://localhost/none' },
  rules: [nothing],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const params: readonly (readonly [name: string, paramRef: JsonObject])[] = [
  ['by-name', { name: 'settings', parameterNotFoundAction: 'Allow' }],
  ['by-full-name', { name: 'settings', namespace: place, parameterNotFoundAction: 'Allow' }],
  [
    'by-labels',
    {
      selector: { matchLabels: { b: '2', a: '1' }, matchExpressions: [{ key: 'c', operator: 'In', values: ['x', 'y'] }] },
      parameterNotFoundAction: 'Allow',
    },
  ],
];
const admissions: readonly PrintedObject[] = [
  ...['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'].flatMap((plural) => [
    made([admission, plural, 'cluster'], { name: 'empty' }),
    made([admission, plural, 'cluster'], { name: 'one' }, { webhooks: [webhook] }),
  ]),
  ...[{}, { paramKind }].flatMap((more, index) => [
    made(
      [admission, 'validatingadmissionpolicies', 'cluster'],
      { name: `policy-${index}` },
      { spec: { matchConstraints: { resourceRules: [nothing] }, validations: [{ expression: 'true' }, { expression: '1 < 2' }], ...more } },
    ),
    made(
      [admission, 'mutatingadmissionpolicies', 'cluster'],
      { name: `policy-${index}` },
      {
        spec: {
          matchConstraints: { resourceRules: [nothing] },
          reinvocationPolicy: 'Never',
          mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
          ...more,
        },
      },
    ),
  ]),
  ...[['free', undefined] as const, ...params].flatMap(([name, paramRef]) => {
    const spec = { policyName: 'policy-1', ...(paramRef === undefined ? {} : { paramRef }) };
    return [
      made([admission, 'validatingadmissionpolicybindings', 'cluster'], { name }, { spec: { ...spec, validationActions: ['Audit'] } }),
      made([admission, 'mutatingadmissionpolicybindings', 'cluster'], { name }, { spec }),
    ];
  }),
];

const request = { devices: { requests: [{ name: 'disk', exactly: { deviceClassName: 'disks' } }] } };
const allocation = { devices: { results: [{ request: 'disk', driver: 'disk.example.com', pool: 'pool', device: 'one' }] } };
const deviceObjects: readonly PrintedObject[] = [
  made([devices, 'deviceclasses', 'cluster'], { name: 'disks' }, { spec: {} }),
  made([devices, 'resourceclaims', 'namespace'], { name: 'waiting' }, { spec: request }),
  made([devices, 'resourceclaims', 'namespace'], { name: 'allocated' }, { spec: request }, { status: { allocation } }),
  made(
    [devices, 'resourceclaims', 'namespace'],
    { name: 'reserved' },
    { spec: request },
    { status: { allocation, reservedFor: [{ resource: 'pods', name: 'web', uid: 'a' }] } },
  ),
  made([devices, 'resourceclaims', 'namespace'], { name: 'going' }, { spec: request }, { deleted: true }),
  made([devices, 'resourceclaimtemplates', 'namespace'], { name: 'template' }, { spec: { spec: request } }),
  made(
    [devices, 'resourceslices', 'cluster'],
    { name: 'of-node' },
    { spec: { driver: 'disk.example.com', nodeName: 'worker', pool: { name: 'pool', generation: 1, resourceSliceCount: 1 }, devices: [] } },
  ),
];

const flow = of('flowcontrol.apiserver.k8s.io');
const flows: readonly PrintedObject[] = [
  made(
    [flow, 'flowschemas', 'cluster'],
    { name: 'by-user' },
    { spec: { priorityLevelConfiguration: { name: 'queued' }, matchingPrecedence: 9000, distinguisherMethod: { type: 'ByUser' } } },
  ),
  made(
    [flow, 'prioritylevelconfigurations', 'cluster'],
    { name: 'queued' },
    {
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares: 3,
          limitResponse: { type: 'Queue', queuing: { queues: 16, handSize: 4, queueLengthLimit: 50 } },
        },
      },
    },
  ),
];

/** Objects of kinds whose columns are read from fields, in all states that these columns distinguish. */
export const furtherObjects: readonly PrintedObject[] = [
  ...workloads,
  ...limits,
  ...networks,
  ...rights,
  ...storages,
  ...admissions,
  ...deviceObjects,
  ...flows,
];
