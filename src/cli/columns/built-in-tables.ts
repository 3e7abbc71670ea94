import type { Json } from '../../core/json.ts';
import { labelsAt, listAt, textAt, valueAt } from '../../core/json-at.ts';
import { humanDuration } from '../human-duration.ts';
import { computedColumn, countColumn, pathColumn, scalarText } from './json-columns.ts';
import { type LabelSelector, labelsText, selectorText } from './label-texts.ts';
import { ageColumn, type KindTable, nameColumn, orNone, type PrintedColumn } from './printed-column.ts';

// The tables of Kubernetes 1.36 (pkg/printers/internalversion/printers.go) for kinds whose columns are read from fields.

/** The column of kinds for which the API server has no printer. */
const createdColumn: PrintedColumn = {
  header: 'CREATED AT',
  fields: '',
  cell: ({ metadata }) => metadata.creationTimestamp ?? '<unknown>',
};

/** A column that cannot be filled: only the metadata of Secrets is mirrored. */
const unknownColumn = (header: string): PrintedColumn => ({ header, fields: '', cell: () => '<unknown>' });

const templateColumns: readonly PrintedColumn[] = [
  computedColumn('CONTAINERS', 'template { spec { containers { name } } }', (item) =>
    namesAt(item, 'name', 'template', 'spec', 'containers'),
  ),
  computedColumn('IMAGES', 'template { spec { containers { image } } }', (item) =>
    namesAt(item, 'image', 'template', 'spec', 'containers'),
  ),
  computedColumn('POD LABELS', 'template { metadata { labels } }', (item) =>
    orNone(labelsText(labelsAt(item, 'template', 'metadata', 'labels'))),
  ),
];

const bindingColumns: readonly PrintedColumn[] = [
  nameColumn,
  computedColumn(
    'ROLE',
    'roleRef { kind name }',
    (item) => `${textAt(item, 'roleRef', 'kind') ?? ''}/${textAt(item, 'roleRef', 'name') ?? ''}`,
  ),
  ageColumn,
  wide(computedColumn('USERS', 'subjects { kind name namespace }', (item) => subjectsText(item, 'User'))),
  wide(computedColumn('GROUPS', 'subjects { kind name namespace }', (item) => subjectsText(item, 'Group'))),
  wide(computedColumn('SERVICEACCOUNTS', 'subjects { kind name namespace }', (item) => subjectsText(item, 'ServiceAccount'))),
];

const policyColumns = (header: string, path: string, field: string): readonly PrintedColumn[] => [
  nameColumn,
  countColumn(header, path, field),
  computedColumn('PARAMKIND', 'spec { paramKind { apiVersion kind } }', (item) =>
    valueAt(item, 'spec', 'paramKind')
      ? `${textAt(item, 'spec', 'paramKind', 'apiVersion')}/${textAt(item, 'spec', 'paramKind', 'kind')}`
      : '<unset>',
  ),
  ageColumn,
];

const policyBindingColumns: readonly PrintedColumn[] = [
  nameColumn,
  pathColumn('POLICYNAME', 'spec.policyName'),
  computedColumn(
    'PARAMREF',
    'spec { paramRef { name namespace selector { matchLabels matchExpressions { key operator values } } } }',
    (item) => paramText(valueAt(item, 'spec', 'paramRef')),
  ),
  ageColumn,
];

const webhookColumns: readonly PrintedColumn[] = [nameColumn, countColumn('WEBHOOKS', 'webhooks', 'name'), ageColumn];

const columnsByKind: Readonly<Record<string, readonly PrintedColumn[]>> = {
  Endpoints: [
    nameColumn,
    computedColumn('ENDPOINTS', 'subsets { addresses { ip } ports { port } }', (item) => endpointsText(listAt(item, 'subsets'))),
    ageColumn,
  ],
  LimitRange: [nameColumn, createdColumn],
  PodTemplate: [nameColumn, ...templateColumns],
  ReplicationController: [
    nameColumn,
    pathColumn('DESIRED', 'spec.replicas', { absent: '0' }),
    pathColumn('CURRENT', 'status.replicas', { absent: '0' }),
    pathColumn('READY', 'status.readyReplicas', { absent: '0' }),
    ageColumn,
    wide(
      computedColumn('CONTAINERS', 'spec { template { spec { containers { name } } } }', (item) =>
        namesAt(item, 'name', 'spec', 'template', 'spec', 'containers'),
      ),
    ),
    wide(
      computedColumn('IMAGES', 'spec { template { spec { containers { image } } } }', (item) =>
        namesAt(item, 'image', 'spec', 'template', 'spec', 'containers'),
      ),
    ),
    wide(computedColumn('SELECTOR', 'spec { podLabels: selector }', (item) => orNone(labelsText(labelsAt(item, 'spec', 'podLabels'))))),
  ],
  ResourceQuota: [
    nameColumn,
    computedColumn('REQUEST', 'status { hard { all } used { all } }', (item) => quotaText(item, (name) => !isLimit(name))),
    computedColumn('LIMIT', 'status { hard { all } used { all } }', (item) => quotaText(item, isLimit)),
    ageColumn,
  ],
  Secret: [nameColumn, unknownColumn('TYPE'), unknownColumn('DATA'), ageColumn],
  'APIService.apiregistration.k8s.io': [
    nameColumn,
    computedColumn('SERVICE', 'spec { service { namespace name } }', (item) =>
      valueAt(item, 'spec', 'service')
        ? `${textAt(item, 'spec', 'service', 'namespace') ?? ''}/${textAt(item, 'spec', 'service', 'name') ?? ''}`
        : 'Local',
    ),
    computedColumn('AVAILABLE', 'status { conditions { type status reason } }', availableText),
    ageColumn,
  ],
  'ControllerRevision.apps': [
    nameColumn,
    computedColumn('CONTROLLER', 'metadata { ownerReferences { apiVersion kind name controller } }', controllerText),
    pathColumn('REVISION', 'revision', { absent: '0' }),
    ageColumn,
  ],
  'CertificateSigningRequest.certificates.k8s.io': [
    nameColumn,
    ageColumn,
    computedColumn('SIGNERNAME', 'spec { signerName }', (item) => orNone(textAt(item, 'spec', 'signerName'))),
    pathColumn('REQUESTOR', 'spec.username'),
    computedColumn('REQUESTEDDURATION', 'spec { expirationSeconds }', (item) => {
      const seconds = valueAt(item, 'spec', 'expirationSeconds');
      return typeof seconds === 'number' ? humanDuration(seconds * 1000) : '<none>';
    }),
    computedColumn('CONDITION', 'status { conditions { type } certificate }', signingText),
  ],
  'Lease.coordination.k8s.io': [nameColumn, pathColumn('HOLDER', 'spec.holderIdentity'), ageColumn],
  'EndpointSlice.discovery.k8s.io': [
    nameColumn,
    pathColumn('ADDRESSTYPE', 'addressType'),
    computedColumn('PORTS', 'ports { port name }', (item) =>
      shortListText(listAt(item, 'ports').map((port) => scalarText(valueAt(port, 'port')) ?? textAt(port, 'name') ?? '*')),
    ),
    computedColumn('ENDPOINTS', 'endpoints { addresses }', (item) =>
      shortListText(listAt(item, 'endpoints').flatMap((endpoint) => listAt(endpoint, 'addresses').map(String))),
    ),
    ageColumn,
  ],
  'FlowSchema.flowcontrol.apiserver.k8s.io': [
    nameColumn,
    pathColumn('PRIORITYLEVEL', 'spec.priorityLevelConfiguration.name'),
    pathColumn('MATCHINGPRECEDENCE', 'spec.matchingPrecedence', { absent: '0' }),
    pathColumn('DISTINGUISHERMETHOD', 'spec.distinguisherMethod.type', { absent: '<none>' }),
    ageColumn,
    computedColumn('MISSINGPL', 'status { conditions { type status } }', (item) => textAt(conditionOf(item, 'Dangling'), 'status') ?? '?'),
  ],
  'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io': [
    nameColumn,
    pathColumn('TYPE', 'spec.type'),
    pathColumn('NOMINALCONCURRENCYSHARES', 'spec.limited.nominalConcurrencyShares', { absent: '<none>' }),
    pathColumn('QUEUES', 'spec.limited.limitResponse.queuing.queues', { absent: '<none>' }),
    pathColumn('HANDSIZE', 'spec.limited.limitResponse.queuing.handSize', { absent: '<none>' }),
    pathColumn('QUEUELENGTHLIMIT', 'spec.limited.limitResponse.queuing.queueLengthLimit', { absent: '<none>' }),
    ageColumn,
  ],
  'IngressClass.networking.k8s.io': [
    nameWithDefault('ingressclass.kubernetes.io/is-default-class'),
    pathColumn('CONTROLLER', 'spec.controller'),
    computedColumn('PARAMETERS', 'spec { parameters { kind apiGroup name } }', (item) =>
      parametersText(valueAt(item, 'spec', 'parameters')),
    ),
    ageColumn,
  ],
  'IPAddress.networking.k8s.io': [
    nameColumn,
    computedColumn('PARENTREF', 'spec { parentRef { group resource namespace name } }', (item) =>
      parentText(valueAt(item, 'spec', 'parentRef')),
    ),
  ],
  'NetworkPolicy.networking.k8s.io': [
    nameColumn,
    computedColumn('POD-SELECTOR', 'spec { podSelector { matchLabels matchExpressions { key operator values } } }', (item) =>
      orNone(selectorText(valueAt(item, 'spec', 'podSelector') as LabelSelector | undefined) ?? '<error>'),
    ),
    ageColumn,
  ],
  'ServiceCIDR.networking.k8s.io': [
    nameColumn,
    computedColumn('CIDRS', 'spec { cidrs }', (item) => listAt(item, 'spec', 'cidrs').join(',')),
    ageColumn,
  ],
  'RuntimeClass.node.k8s.io': [nameColumn, pathColumn('HANDLER', 'handler'), ageColumn],
  'PodDisruptionBudget.policy': [
    nameColumn,
    pathColumn('MIN AVAILABLE', 'spec.minAvailable', { absent: 'N/A' }),
    pathColumn('MAX UNAVAILABLE', 'spec.maxUnavailable', { absent: 'N/A' }),
    pathColumn('ALLOWED DISRUPTIONS', 'status.disruptionsAllowed', { absent: '0' }),
    ageColumn,
  ],
  'ClusterRole.rbac.authorization.k8s.io': [nameColumn, createdColumn],
  'ClusterRoleBinding.rbac.authorization.k8s.io': bindingColumns,
  'Role.rbac.authorization.k8s.io': [nameColumn, createdColumn],
  'RoleBinding.rbac.authorization.k8s.io': bindingColumns,
  'ResourceClaim.resource.k8s.io': [
    nameColumn,
    computedColumn('STATE', 'metadata { deletionTimestamp } status { allocation { allocationTimestamp } reservedFor { name } }', claimText),
    ageColumn,
  ],
  'ResourceSlice.resource.k8s.io': [
    nameColumn,
    pathColumn('NODE', 'spec.nodeName'),
    pathColumn('DRIVER', 'spec.driver'),
    pathColumn('POOL', 'spec.pool.name'),
    ageColumn,
  ],
  'PriorityClass.scheduling.k8s.io': [
    nameColumn,
    pathColumn('VALUE', 'value', { absent: '0' }),
    pathColumn('GLOBAL-DEFAULT', 'globalDefault', { absent: 'false' }),
    ageColumn,
    pathColumn('PREEMPTIONPOLICY', 'preemptionPolicy'),
  ],
  'CSIDriver.storage.k8s.io': [
    nameColumn,
    pathColumn('ATTACHREQUIRED', 'spec.attachRequired', { absent: 'true' }),
    pathColumn('PODINFOONMOUNT', 'spec.podInfoOnMount', { absent: 'false' }),
    pathColumn('STORAGECAPACITY', 'spec.storageCapacity', { absent: 'false' }),
    computedColumn('TOKENREQUESTS', 'spec { tokenRequests { audience } }', (item) =>
      valueAt(item, 'spec', 'tokenRequests') ? namesAt(item, 'audience', 'spec', 'tokenRequests') : '<unset>',
    ),
    pathColumn('REQUIRESREPUBLISH', 'spec.requiresRepublish', { absent: 'false' }),
    computedColumn('MODES', 'spec { volumeLifecycleModes }', (item) => orNone(listAt(item, 'spec', 'volumeLifecycleModes').join(','))),
    ageColumn,
  ],
  'CSINode.storage.k8s.io': [nameColumn, countColumn('DRIVERS', 'spec.drivers', 'name'), ageColumn],
  'CSIStorageCapacity.storage.k8s.io': [nameColumn, createdColumn],
  'StorageClass.storage.k8s.io': [
    nameWithDefault('storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'),
    pathColumn('PROVISIONER', 'provisioner'),
    pathColumn('RECLAIMPOLICY', 'reclaimPolicy', { absent: 'Delete' }),
    pathColumn('VOLUMEBINDINGMODE', 'volumeBindingMode', { absent: 'Immediate' }),
    pathColumn('ALLOWVOLUMEEXPANSION', 'allowVolumeExpansion', { absent: 'false' }),
    ageColumn,
  ],
  'VolumeAttachment.storage.k8s.io': [
    nameColumn,
    pathColumn('ATTACHER', 'spec.attacher'),
    pathColumn('PV', 'spec.source.persistentVolumeName'),
    pathColumn('NODE', 'spec.nodeName'),
    pathColumn('ATTACHED', 'status.attached', { absent: 'false' }),
    ageColumn,
  ],
  'VolumeAttributesClass.storage.k8s.io': [nameColumn, pathColumn('DRIVERNAME', 'driverName'), ageColumn],
  'MutatingAdmissionPolicy.admissionregistration.k8s.io': policyColumns('MUTATIONS', 'spec.mutations', 'patchType'),
  'MutatingAdmissionPolicyBinding.admissionregistration.k8s.io': policyBindingColumns,
  'MutatingWebhookConfiguration.admissionregistration.k8s.io': webhookColumns,
  'ValidatingAdmissionPolicy.admissionregistration.k8s.io': policyColumns('VALIDATIONS', 'spec.validations', 'expression'),
  'ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io': policyBindingColumns,
  'ValidatingWebhookConfiguration.admissionregistration.k8s.io': webhookColumns,
  'CustomResourceDefinition.apiextensions.k8s.io': [nameColumn, createdColumn],
};

/** Kinds whose columns are read from fields. */
export const builtInTables: readonly KindTable[] = Object.entries(columnsByKind).map(([key, columns]) => {
  const [kind = '', group = ''] = key.split(/\.(.*)/s);
  return { group, kind, columns };
});

function wide(column: PrintedColumn): PrintedColumn {
  return { ...column, isWide: true };
}

/** NAME with the mark of a default class: one of the annotations is `true`. */
function nameWithDefault(...annotations: readonly string[]): PrintedColumn {
  return {
    header: nameColumn.header,
    fields: 'metadata { annotations }',
    cell: (item, at) => {
      const values = labelsAt(item as unknown as Json, 'metadata', 'annotations');
      return `${nameColumn.cell(item, at)}${annotations.some((key) => values[key] === 'true') ? ' (default)' : ''}`;
    },
  };
}

/** The texts of one field of the elements of a list. */
function namesAt(item: Json, field: string, ...path: readonly string[]): string {
  return listAt(item, ...path)
    .map((element) => textAt(element, field) ?? '')
    .join(',');
}

function conditionOf(item: Json, type: string): Json | undefined {
  return listAt(item, 'status', 'conditions').find((condition) => textAt(condition, 'type') === type);
}

function subjectsText(item: Json, kind: 'User' | 'Group' | 'ServiceAccount'): string {
  return listAt(item, 'subjects')
    .filter((subject) => textAt(subject, 'kind') === kind)
    .map((subject) => `${kind === 'ServiceAccount' ? `${textAt(subject, 'namespace') ?? ''}/` : ''}${textAt(subject, 'name') ?? ''}`)
    .join(', ');
}

/** The first three texts, and the number of further ones. */
function shortListText(all: readonly string[]): string {
  const most = 3;
  if (all.length > most) return `${all.slice(0, most).join(',')} + ${all.length - most} more...`;
  return all.join(',') || '<unset>';
}

function endpointsText(subsets: readonly Json[]): string {
  if (subsets.length === 0) return '<none>';
  const all = subsets.flatMap((subset) => {
    const addresses = listAt(subset, 'addresses').map((address) => textAt(address, 'ip') ?? '');
    const ports = listAt(subset, 'ports').map((port) => scalarText(valueAt(port, 'port')) ?? '0');
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((ip) => `${ip.includes(':') ? `[${ip}]` : ip}:${port}`));
  });
  return all.length === 0 ? '' : shortListText(all);
}

function isLimit(name: string): boolean {
  return name.startsWith('limits.');
}

function quotaText(item: Json, isShown: (name: string) => boolean): string {
  const [hard, used] = [labelsAt(item, 'status', 'hard', 'all'), labelsAt(item, 'status', 'used', 'all')];
  return Object.keys(hard)
    .filter(isShown)
    .toSorted()
    .map((name) => `${name}: ${used[name] ?? '0'}/${hard[name] ?? ''}`)
    .join(', ');
}

function availableText(item: Json): string {
  const condition = conditionOf(item, 'Available');
  const [status = 'Unknown', reason = ''] = [textAt(condition, 'status'), textAt(condition, 'reason')];
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
}

function controllerText(item: Json): string {
  const owner = listAt(item, 'metadata', 'ownerReferences').find((reference) => valueAt(reference, 'controller') === true);
  if (owner === undefined) return '<none>';
  const [group = '', version] = (textAt(owner, 'apiVersion') ?? '').split('/');
  const kind = textAt(owner, 'kind') ?? '';
  return `${(version === undefined ? kind : `${kind}.${group}`).toLowerCase()}/${textAt(owner, 'name') ?? ''}`;
}

function signingText(item: Json): string {
  const decision = conditionOf(item, 'Denied') ? 'Denied' : conditionOf(item, 'Approved') ? 'Approved' : 'Pending';
  return [decision, ...(conditionOf(item, 'Failed') ? ['Failed'] : []), ...(textAt(item, 'status', 'certificate') ? ['Issued'] : [])].join(
    ',',
  );
}

function parametersText(parameters: Json | undefined): string {
  if (!parameters) return '<none>';
  const group = textAt(parameters, 'apiGroup');
  return `${textAt(parameters, 'kind') ?? ''}${group === undefined ? '' : `.${group}`}/${textAt(parameters, 'name') ?? ''}`;
}

function parentText(parent: Json | undefined): string {
  if (!parent) return '<none>';
  const resource = [textAt(parent, 'resource'), textAt(parent, 'group')].filter(Boolean).join('.').toLowerCase();
  return [resource, ...(textAt(parent, 'namespace') ? [textAt(parent, 'namespace')] : []), textAt(parent, 'name') ?? ''].join('/');
}

function claimText(item: Json): string {
  const isDeleted = textAt(item, 'metadata', 'deletionTimestamp') !== undefined;
  const states = isDeleted ? ['deleted'] : [];
  if (!valueAt(item, 'status', 'allocation')) return (isDeleted ? states : ['pending']).join(',');
  return [...states, 'allocated', ...(listAt(item, 'status', 'reservedFor').length > 0 ? ['reserved'] : [])].join(',');
}

/** A selector is printed as Go prints its message. */
function paramText(param: Json | undefined): string {
  const name = textAt(param, 'name') ?? '';
  if (name !== '') return `${textAt(param, 'namespace') || '*'}/${name}`;
  const selector = valueAt(param, 'selector');
  if (!selector) return '<unset>';
  const labels = Object.entries(labelsAt(selector, 'matchLabels')).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const expressions = listAt(selector, 'matchExpressions').map(
    (one) =>
      `LabelSelectorRequirement{Key:${textAt(one, 'key') ?? ''},Operator:${textAt(one, 'operator') ?? ''},Values:[${listAt(one, 'values').join(' ')}],},`,
  );
  const map = labels.map(([key, value]) => `${key}: ${value},`).join('');
  return `&LabelSelector{MatchLabels:map[string]string{${map}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
