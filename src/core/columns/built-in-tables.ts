import type * as k8s from '@kubernetes/client-node';
import type { Stored } from '../stored.ts';
import { computedColumn, countColumn, pathColumn } from './json-columns.ts';
import { humanDuration } from './kubectl-text.ts';
import { labelsText, selectorText } from './label-texts.ts';
import {
  type AnsweredObject,
  ageColumn,
  type KindTable,
  type ListedItem,
  type Maybe,
  nameColumn,
  orNone,
  type PrintedColumn,
} from './printed-column.ts';

// The tables of Kubernetes 1.36 (pkg/printers/internalversion/printers.go) for kinds whose columns are read from fields.

/** The only column of kinds without a printer in the API server. */
const createdColumn: PrintedColumn = {
  header: 'CREATED AT',
  fields: '',
  cell: ({ metadata }) => metadata.creationTimestamp ?? '<unknown>',
};

type SigningRequest = AnsweredObject<k8s.V1CertificateSigningRequest>;
type Quota = ListedItem & {
  readonly status?: Maybe<Readonly<Record<'hard' | 'used', Maybe<{ readonly all?: Maybe<Readonly<Record<string, string>>> }>>>>;
};

/** Returns a column of `<unknown>`, because Muster mirrors only the metadata of Secrets. */
const unknownColumn = (header: string): PrintedColumn => ({ header, fields: '', cell: () => '<unknown>' });

const templateColumns: readonly PrintedColumn[] = [
  computedColumn('CONTAINERS', 'template { spec { containers { name } } }', ({ template }: AnsweredObject<k8s.V1PodTemplate>) =>
    textsText(template?.spec?.containers, ({ name }) => name),
  ),
  computedColumn('IMAGES', 'template { spec { containers { image } } }', ({ template }: AnsweredObject<k8s.V1PodTemplate>) =>
    textsText(template?.spec?.containers, ({ image }) => image),
  ),
  computedColumn('POD LABELS', 'template { metadata { labels } }', ({ template }: AnsweredObject<k8s.V1PodTemplate>) =>
    orNone(labelsText(template?.metadata?.labels)),
  ),
];

const bindingColumns: readonly PrintedColumn[] = [
  nameColumn,
  computedColumn(
    'ROLE',
    'roleRef { kind name }',
    ({ roleRef }: AnsweredObject<k8s.V1RoleBinding>) => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`,
  ),
  ageColumn,
  wide(computedColumn('USERS', 'subjects { kind name namespace }', subjectsText('User'))),
  wide(computedColumn('GROUPS', 'subjects { kind name namespace }', subjectsText('Group'))),
  wide(computedColumn('SERVICEACCOUNTS', 'subjects { kind name namespace }', subjectsText('ServiceAccount'))),
];

const policyColumns = (header: string, path: string, field: string): readonly PrintedColumn[] => [
  nameColumn,
  countColumn(header, path, field),
  computedColumn('PARAMKIND', 'spec { paramKind { apiVersion kind } }', ({ spec }: AnsweredObject<k8s.V1ValidatingAdmissionPolicy>) =>
    spec?.paramKind ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}` : '<unset>',
  ),
  ageColumn,
];

const policyBindingColumns: readonly PrintedColumn[] = [
  nameColumn,
  pathColumn('POLICYNAME', 'spec.policyName'),
  computedColumn(
    'PARAMREF',
    'spec { paramRef { name namespace selector { matchLabels matchExpressions { key operator values } } } }',
    ({ spec }: AnsweredObject<k8s.V1ValidatingAdmissionPolicyBinding>) => paramText(spec?.paramRef),
  ),
  ageColumn,
];

const webhookColumns: readonly PrintedColumn[] = [nameColumn, countColumn('WEBHOOKS', 'webhooks', 'name'), ageColumn];

const columnsByKind: Readonly<Record<string, readonly PrintedColumn[]>> = {
  Endpoints: [nameColumn, computedColumn('ENDPOINTS', 'subsets { addresses { ip } ports { port } }', endpointsText), ageColumn],
  ConfigMap: [nameColumn, pathColumn('DATA', 'dataCount', { absent: '0' }), ageColumn],
  LimitRange: [nameColumn, createdColumn],
  Namespace: [nameColumn, pathColumn('STATUS', 'status.phase'), ageColumn],
  PodTemplate: [nameColumn, ...templateColumns],
  ResourceQuota: [
    nameColumn,
    computedColumn('REQUEST', 'status { hard { all } used { all } }', (item: Quota) => quotaText(item, (name) => !isLimit(name))),
    computedColumn('LIMIT', 'status { hard { all } used { all } }', (item: Quota) => quotaText(item, isLimit)),
    ageColumn,
  ],
  Secret: [nameColumn, unknownColumn('TYPE'), unknownColumn('DATA'), ageColumn],
  'APIService.apiregistration.k8s.io': [
    nameColumn,
    computedColumn('SERVICE', 'spec { service { namespace name } }', ({ spec }: AnsweredObject<k8s.V1APIService>) =>
      spec?.service ? `${spec.service.namespace ?? ''}/${spec.service.name ?? ''}` : 'Local',
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
    computedColumn('SIGNERNAME', 'spec { signerName }', ({ spec }: SigningRequest) => orNone(spec?.signerName)),
    pathColumn('REQUESTOR', 'spec.username'),
    computedColumn('REQUESTEDDURATION', 'spec { expirationSeconds }', ({ spec }: SigningRequest) =>
      typeof spec?.expirationSeconds === 'number' ? humanDuration(spec.expirationSeconds * 1000) : '<none>',
    ),
    computedColumn('CONDITION', 'status { conditions { type } certificate }', signingText),
  ],
  'Lease.coordination.k8s.io': [nameColumn, pathColumn('HOLDER', 'spec.holderIdentity'), ageColumn],
  'EndpointSlice.discovery.k8s.io': [
    nameColumn,
    pathColumn('ADDRESSTYPE', 'addressType'),
    computedColumn('PORTS', 'ports { port name }', ({ ports }: AnsweredObject<k8s.V1EndpointSlice>) =>
      shortListText((ports ?? []).map(({ port, name }) => String(port ?? name ?? '*'))),
    ),
    computedColumn('ENDPOINTS', 'endpoints { addresses }', ({ endpoints }: AnsweredObject<k8s.V1EndpointSlice>) =>
      shortListText((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
    ),
    ageColumn,
  ],
  'FlowSchema.flowcontrol.apiserver.k8s.io': [
    nameColumn,
    pathColumn('PRIORITYLEVEL', 'spec.priorityLevelConfiguration.name'),
    pathColumn('MATCHINGPRECEDENCE', 'spec.matchingPrecedence', { absent: '0' }),
    pathColumn('DISTINGUISHERMETHOD', 'spec.distinguisherMethod.type', { absent: '<none>' }),
    ageColumn,
    computedColumn(
      'MISSINGPL',
      'status { conditions { type status } }',
      (item: AnsweredObject<k8s.V1FlowSchema>) => conditionOf(item, 'Dangling')?.status ?? '?',
    ),
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
    computedColumn('PARAMETERS', 'spec { parameters { kind apiGroup name } }', parametersText),
    ageColumn,
  ],
  'IPAddress.networking.k8s.io': [
    nameColumn,
    computedColumn('PARENTREF', 'spec { parentRef { group resource namespace name } }', parentText),
  ],
  'NetworkPolicy.networking.k8s.io': [
    nameColumn,
    computedColumn(
      'POD-SELECTOR',
      'spec { podSelector { matchLabels matchExpressions { key operator values } } }',
      ({ spec }: AnsweredObject<k8s.V1NetworkPolicy>) => orNone(selectorText(spec?.podSelector) ?? '<error>'),
    ),
    ageColumn,
  ],
  'ServiceCIDR.networking.k8s.io': [
    nameColumn,
    computedColumn('CIDRS', 'spec { cidrs }', ({ spec }: AnsweredObject<k8s.V1ServiceCIDR>) => (spec?.cidrs ?? []).join(',')),
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
    computedColumn('TOKENREQUESTS', 'spec { tokenRequests { audience } }', ({ spec }: AnsweredObject<k8s.V1CSIDriver>) =>
      spec?.tokenRequests ? textsText(spec.tokenRequests, ({ audience }) => audience) : '<unset>',
    ),
    pathColumn('REQUIRESREPUBLISH', 'spec.requiresRepublish', { absent: 'false' }),
    computedColumn('MODES', 'spec { volumeLifecycleModes }', ({ spec }: AnsweredObject<k8s.V1CSIDriver>) =>
      orNone(spec?.volumeLifecycleModes?.join(',')),
    ),
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

/** The tables of kinds whose columns are read from fields. */
export const builtInTables: readonly KindTable[] = Object.entries(columnsByKind).map(([key, columns]) => {
  const [kind = '', group = ''] = key.split(/\.(.*)/s);
  return { group, kind, columns };
});

function wide(column: PrintedColumn): PrintedColumn {
  return { ...column, isWide: true };
}

/** Returns the column NAME, with `(default)` if one of the annotations is `true`. */
function nameWithDefault(...annotations: readonly string[]): PrintedColumn {
  return {
    header: nameColumn.header,
    fields: 'metadata { annotations }',
    cell: (item, at) => {
      const { metadata }: Stored<k8s.V1StorageClass, null> = item;
      return `${nameColumn.cell(item, at)}${annotations.some((key) => metadata?.annotations?.[key] === 'true') ? ' (default)' : ''}`;
    },
  };
}

function textsText<Element>(list: Maybe<readonly Element[]>, textOf: (element: Element) => Maybe<string>): string {
  return (list ?? []).map((element) => textOf(element) ?? '').join(',');
}

function conditionOf({ status }: Stored<{ status?: { conditions?: k8s.V1Condition[] } }, null>, type: string) {
  return (status?.conditions ?? []).find((condition) => condition.type === type);
}

function subjectsText(kind: 'User' | 'Group' | 'ServiceAccount') {
  return ({ subjects }: AnsweredObject<k8s.V1RoleBinding>) =>
    (subjects ?? [])
      .filter((subject) => subject.kind === kind)
      .map(({ namespace, name }) => `${kind === 'ServiceAccount' ? `${namespace ?? ''}/` : ''}${name ?? ''}`)
      .join(', ');
}

/** Joins the first three texts with commas, and adds the number of further texts. */
function shortListText(all: readonly string[]): string {
  const most = 3;
  if (all.length > most) return `${all.slice(0, most).join(',')} + ${all.length - most} more...`;
  return all.join(',') || '<unset>';
}

function endpointsText({ subsets }: AnsweredObject<k8s.V1Endpoints>): string {
  if (!subsets?.length) return '<none>';
  const all = subsets.flatMap(({ addresses, ports }) => {
    const ips = (addresses ?? []).map(({ ip }) => ip ?? '');
    if (!ports?.length) return ips;
    return ports.flatMap(({ port }) => ips.map((ip) => `${ip.includes(':') ? `[${ip}]` : ip}:${port ?? 0}`));
  });
  return all.length === 0 ? '' : shortListText(all);
}

function isLimit(name: string): boolean {
  return name.startsWith('limits.');
}

function quotaText({ status }: Quota, isShown: (name: string) => boolean): string {
  const [hard, used] = [status?.hard?.all ?? {}, status?.used?.all ?? {}];
  return Object.keys(hard)
    .filter(isShown)
    .toSorted()
    .map((name) => `${name}: ${used[name] ?? '0'}/${hard[name] ?? ''}`)
    .join(', ');
}

function availableText(service: AnsweredObject<k8s.V1APIService>): string {
  const { status, reason } = conditionOf(service, 'Available') ?? {};
  return status === 'True' || !reason ? (status ?? 'Unknown') : `${status ?? 'Unknown'} (${reason})`;
}

function controllerText({ metadata }: Stored<k8s.V1ControllerRevision, null>): string {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true);
  if (!owner) return '<none>';
  const [group = '', version] = (owner.apiVersion ?? '').split('/');
  const kind = owner.kind ?? '';
  return `${(version === undefined ? kind : `${kind}.${group}`).toLowerCase()}/${owner.name ?? ''}`;
}

function signingText(request: SigningRequest): string {
  const decision = conditionOf(request, 'Denied') ? 'Denied' : conditionOf(request, 'Approved') ? 'Approved' : 'Pending';
  const further = [conditionOf(request, 'Failed') && 'Failed', request.status?.certificate && 'Issued'];
  return [decision, ...further].filter(Boolean).join(',');
}

function parametersText({ spec }: AnsweredObject<k8s.V1IngressClass>): string {
  if (!spec?.parameters) return '<none>';
  const { kind, apiGroup, name } = spec.parameters;
  return `${kind ?? ''}${typeof apiGroup === 'string' ? `.${apiGroup}` : ''}/${name ?? ''}`;
}

function parentText({ spec }: AnsweredObject<k8s.V1IPAddress>): string {
  if (!spec?.parentRef) return '<none>';
  const { resource, group, namespace, name } = spec.parentRef;
  const kind = [resource, group].filter(Boolean).join('.').toLowerCase();
  return [kind, ...(namespace ? [namespace] : []), name ?? ''].join('/');
}

function claimText({ metadata, status }: Stored<k8s.ResourceV1ResourceClaim, null>): string {
  const states = metadata?.deletionTimestamp ? ['deleted'] : [];
  if (!status?.allocation) return states[0] ?? 'pending';
  return [...states, 'allocated', ...(status.reservedFor?.length ? ['reserved'] : [])].join(',');
}

/** Returns `NAMESPACE/NAME`, or the selector in the notation of Go. */
function paramText(param: Maybe<Stored<k8s.V1ParamRef, null>>): string {
  if (param?.name) return `${param.namespace || '*'}/${param.name}`;
  const selector = param?.selector;
  if (!selector) return '<unset>';
  const labels = Object.entries(selector.matchLabels ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values }) =>
      `LabelSelectorRequirement{Key:${key ?? ''},Operator:${operator ?? ''},Values:[${(values ?? []).join(' ')}],},`,
  );
  const map = labels.map(([key, value]) => `${key}: ${value},`).join('');
  return `&LabelSelector{MatchLabels:map[string]string{${map}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
