import type { JsonObject } from '../../core/json.ts';
import { groupOfApiVersion, versionOfApiVersion } from '../../core/kinds.ts';
import type { SimVerb } from './embedded-cluster.ts';

/** Paths of the replica counts in an object. */
export interface ScalePaths {
  readonly spec: string;
  readonly status: string;
}

/** A kind as the server serves it. All versions share one storage, and only the apiVersion is converted. */
export interface SimKind {
  readonly group: string;
  readonly kind: string;
  readonly listKind: string;
  readonly resource: string;
  readonly singular: string;
  readonly namespaced: boolean;
  /** All served versions, preferred first. */
  readonly versions: readonly string[];
  readonly verbs: readonly SimVerb[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly hasStatus: boolean;
  /** Paths of the replica counts, such as `spec.replicas`. Absent for a kind without the subresource `scale`. */
  readonly scale?: ScalePaths;
  /** The structural schemas of a custom kind, by version. Empty for other kinds. */
  readonly schemas: Readonly<Record<string, JsonObject>>;
  /**
   * The origin of the kind: the API server itself, a CRD, or an aggregated API. It decides the order of keys in answers. Built-in kinds
   * have the order of their Go struct, all other kinds the alphabetical order.
   */
  readonly source: 'builtIn' | 'custom' | 'aggregated';
  /** True for kinds without uid and resourceVersion, such as PodMetrics. */
  readonly anonymous: boolean;
  /**
   * The zero value of the kind's Go struct without metadata, as JSON members without braces. The object of a bookmark contains these
   * members.
   */
  readonly zero: string;
}

// Answers of Kubernetes 1.36.3 to aggregated discovery and to an empty WatchList, one kind per line, in the server's order:
// version|resource|Kind[@first minor version that serves it]|Namespaced or Cluster|verbs|short names|categories|subresource|zero value
const table = `
v1|bindings|Binding|N|create
v1|componentstatuses|ComponentStatus|C|get,list|cs
v1|configmaps|ConfigMap|N|*|cm
v1|endpoints|Endpoints|N|*|ep
v1|events|Event|N|*|ev|||{"involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":""}
v1|limitranges|LimitRange|N|*|limits|||{"spec":{"limits":null}}
v1|namespaces|Namespace|C|create,delete,get,list,patch,update,watch|ns||status|{"spec":{},"status":{}}
v1|nodes|Node|C|*|no||status|{"spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}}
v1|persistentvolumeclaims|PersistentVolumeClaim|N|*|pvc||status|{"spec":{"resources":{}},"status":{}}
v1|persistentvolumes|PersistentVolume|C|*|pv||status|{"spec":{},"status":{}}
v1|pods|Pod|N|*|po|all|status|{"spec":{"containers":null},"status":{}}
v1|podtemplates|PodTemplate|N|*||||{"template":{"metadata":{},"spec":{"containers":null}}}
v1|replicationcontrollers|ReplicationController|N|*|rc|all|status|{"spec":{},"status":{"replicas":0}}
v1|resourcequotas|ResourceQuota|N|*|quota||status|{"spec":{},"status":{}}
v1|secrets|Secret|N|*
v1|serviceaccounts|ServiceAccount|N|*|sa
v1|services|Service|N|*|svc|all|status|{"spec":{},"status":{"loadBalancer":{}}}
apiregistration.k8s.io/v1|apiservices|APIService|C|*||api-extensions|status|{"spec":{"groupPriorityMinimum":0,"versionPriority":0},"status":{}}
apps/v1|controllerrevisions|ControllerRevision|N|*||||{"data":null,"revision":0}
apps/v1|daemonsets|DaemonSet|N|*|ds|all|status|{"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"updateStrategy":{}},"status":{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0}}
apps/v1|deployments|Deployment|N|*|deploy|all|status|{"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}
apps/v1|replicasets|ReplicaSet|N|*|rs|all|status|{"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},"status":{"replicas":0}}
apps/v1|statefulsets|StatefulSet|N|*|sts|all|status|{"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"serviceName":"","updateStrategy":{}},"status":{"replicas":0,"availableReplicas":0}}
events.k8s.io/v1|events|Event|N|*|ev|||{"eventTime":null,"regarding":{},"deprecatedSource":{},"deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null}
authentication.k8s.io/v1|selfsubjectreviews|SelfSubjectReview|C|create
authentication.k8s.io/v1|tokenreviews|TokenReview|C|create
authorization.k8s.io/v1|localsubjectaccessreviews|LocalSubjectAccessReview|N|create
authorization.k8s.io/v1|selfsubjectaccessreviews|SelfSubjectAccessReview|C|create
authorization.k8s.io/v1|selfsubjectrulesreviews|SelfSubjectRulesReview|C|create
authorization.k8s.io/v1|subjectaccessreviews|SubjectAccessReview|C|create
autoscaling/v2|horizontalpodautoscalers|HorizontalPodAutoscaler|N|*|hpa|all|status|{"spec":{"scaleTargetRef":{"kind":"","name":""},"maxReplicas":0},"status":{"desiredReplicas":0,"currentMetrics":null}}
autoscaling/v1|horizontalpodautoscalers|HorizontalPodAutoscaler|N|*|hpa|all|status|{"spec":{"scaleTargetRef":{"kind":"","name":""},"maxReplicas":0},"status":{"currentReplicas":0,"desiredReplicas":0}}
batch/v1|cronjobs|CronJob|N|*|cj|all|status|{"spec":{"schedule":"","jobTemplate":{"metadata":{},"spec":{"template":{"metadata":{},"spec":{"containers":null}}}}},"status":{}}
batch/v1|jobs|Job|N|*||all|status|{"spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{}}
certificates.k8s.io/v1|certificatesigningrequests|CertificateSigningRequest|C|*|csr||status|{"spec":{"request":null,"signerName":""},"status":{}}
networking.k8s.io/v1|ingressclasses|IngressClass|C|*||||{"spec":{}}
networking.k8s.io/v1|ingresses|Ingress|N|*|ing||status|{"spec":{},"status":{"loadBalancer":{}}}
networking.k8s.io/v1|ipaddresses|IPAddress|C|*|ip|||{"spec":{}}
networking.k8s.io/v1|networkpolicies|NetworkPolicy|N|*|netpol|||{"spec":{"podSelector":{}}}
networking.k8s.io/v1|servicecidrs|ServiceCIDR|C|*|||status|{"spec":{},"status":{}}
policy/v1|poddisruptionbudgets|PodDisruptionBudget|N|*|pdb||status|{"spec":{},"status":{"disruptionsAllowed":0,"currentHealthy":0,"desiredHealthy":0,"expectedPods":0}}
rbac.authorization.k8s.io/v1|clusterrolebindings|ClusterRoleBinding|C|*||||{"roleRef":{"apiGroup":"","kind":"","name":""}}
rbac.authorization.k8s.io/v1|clusterroles|ClusterRole|C|*||||{"rules":null}
rbac.authorization.k8s.io/v1|rolebindings|RoleBinding|N|*||||{"roleRef":{"apiGroup":"","kind":"","name":""}}
rbac.authorization.k8s.io/v1|roles|Role|N|*||||{"rules":null}
storage.k8s.io/v1|csidrivers|CSIDriver|C|*||||{"spec":{}}
storage.k8s.io/v1|csinodes|CSINode|C|*||||{"spec":{"drivers":null}}
storage.k8s.io/v1|csistoragecapacities|CSIStorageCapacity|N|*||||{"storageClassName":""}
storage.k8s.io/v1|storageclasses|StorageClass|C|*|sc|||{"provisioner":""}
storage.k8s.io/v1|volumeattachments|VolumeAttachment|C|*|||status|{"spec":{"attacher":"","source":{},"nodeName":""},"status":{"attached":false}}
storage.k8s.io/v1|volumeattributesclasses|VolumeAttributesClass@34|C|*|vac|||{"driverName":""}
admissionregistration.k8s.io/v1|mutatingadmissionpolicies|MutatingAdmissionPolicy@36|C|*||api-extensions||{"spec":{}}
admissionregistration.k8s.io/v1|mutatingadmissionpolicybindings|MutatingAdmissionPolicyBinding@36|C|*||api-extensions||{"spec":{}}
admissionregistration.k8s.io/v1|mutatingwebhookconfigurations|MutatingWebhookConfiguration|C|*||api-extensions
admissionregistration.k8s.io/v1|validatingadmissionpolicies|ValidatingAdmissionPolicy|C|*||api-extensions|status|{"spec":{},"status":{}}
admissionregistration.k8s.io/v1|validatingadmissionpolicybindings|ValidatingAdmissionPolicyBinding|C|*||api-extensions||{"spec":{}}
admissionregistration.k8s.io/v1|validatingwebhookconfigurations|ValidatingWebhookConfiguration|C|*||api-extensions
apiextensions.k8s.io/v1|customresourcedefinitions|CustomResourceDefinition|C|*|crd,crds|api-extensions|status|{"spec":{"group":"","names":{"plural":"","kind":""},"scope":"","versions":null},"status":{"conditions":null,"acceptedNames":{"plural":"","kind":""},"storedVersions":null}}
scheduling.k8s.io/v1|priorityclasses|PriorityClass|C|*|pc|||{"value":0}
coordination.k8s.io/v1|leases|Lease|N|*||||{"spec":{}}
node.k8s.io/v1|runtimeclasses|RuntimeClass|C|*||||{"handler":""}
discovery.k8s.io/v1|endpointslices|EndpointSlice|N|*||||{"addressType":"","endpoints":null,"ports":null}
resource.k8s.io/v1|deviceclasses|DeviceClass@34|C|*||||{"spec":{}}
resource.k8s.io/v1|resourceclaims|ResourceClaim@34|N|*|||status|{"spec":{"devices":{"requests":null}},"status":{}}
resource.k8s.io/v1|resourceclaimtemplates|ResourceClaimTemplate@34|N|*||||{"spec":{"metadata":{},"spec":{"devices":{"requests":null}}}}
resource.k8s.io/v1|resourceslices|ResourceSlice@34|C|*||||{"spec":{"driver":"","pool":{"name":"","generation":0,"resourceSliceCount":0}}}
flowcontrol.apiserver.k8s.io/v1|flowschemas|FlowSchema|C|*|||status|{"spec":{"priorityLevelConfiguration":{"name":""},"matchingPrecedence":0},"status":{}}
flowcontrol.apiserver.k8s.io/v1|prioritylevelconfigurations|PriorityLevelConfiguration|C|*|||status|{"spec":{"type":""},"status":{}}
`;

/** Kinds with the subresource `scale`. */
const scalable = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController']);
const scale: ScalePaths = { spec: 'spec.replicas', status: 'status.replicas' };
const everyVerb: readonly SimVerb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** Returns the built-in kinds of a minor version of Kubernetes 1, in the order of its discovery. Known versions: 1.33 to 1.36. */
export function builtInKinds(version: string): SimKind[] {
  const minor = Number(/^v?1\.(\d+)/.exec(version)?.[1] ?? '36');
  const kinds = new Map<string, SimKind>();
  for (const line of table.trim().split('\n')) {
    const { since, ...kind } = parseRow(line);
    if (since > minor) continue;
    const key = `${kind.resource}.${kind.group}`;
    const known = kinds.get(key);
    kinds.set(key, known === undefined ? kind : { ...known, versions: [...known.versions, ...kind.versions] });
  }
  return [...kinds.values()];
}

function parseRow(line: string): SimKind & { readonly since: number } {
  const [groupVersion = '', resource = '', name = '', scope, verbs = '', shortNames, categories, subresource, zero = '{}'] =
    line.split('|');
  const [kind = '', since = '0'] = name.split('@');
  return {
    group: groupOfApiVersion(groupVersion),
    versions: [versionOfApiVersion(groupVersion)],
    kind,
    listKind: `${kind}List`,
    resource,
    singular: kind.toLowerCase(),
    namespaced: scope === 'N',
    verbs: verbs === '*' ? everyVerb : (verbs.split(',') as SimVerb[]),
    shortNames: split(shortNames),
    categories: split(categories),
    hasStatus: subresource === 'status',
    ...(scalable.has(kind) ? { scale } : {}),
    schemas: {},
    source: 'builtIn',
    anonymous: false,
    zero: zero.slice(1, -1),
    since: Number(since),
  };
}

function split(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.split(',');
}
