import type { CoreV1Event, V1Deployment, V1Ingress, V1LabelSelector, V1Pod, V1Service } from '@kubernetes/client-node';
import { orderKeyOf } from '../../core/json/json-values.ts';
import { isJsonObject } from '../../core/json.ts';
import type { GroupKind } from '../../core/kinds.ts';
import { labelSelectorOf } from '../../core/label-selectors.ts';
import type { KubernetesObject, ObjectMetadata, TypedObject } from '../../core/objects.ts';
import { matchesLabelSelector } from '../../core/selectors.ts';
import { itemsOf, type Stored } from '../../core/stored.ts';
import { lastSeenOf } from '../../model/columns/event-time.ts';
import { controllerUidOf } from '../../store/contents/indexes.ts';
import type { IndexHint } from '../../store/filter/index-hints.ts';
import { labelsOf, type RelatedCondition } from '../../store/filter/matching.ts';
import type { ObjectMention } from '../../store/mirror-store.ts';
import type { CompiledOrder } from '../../store/query/order.ts';
import type { Row } from '../reads/reads.ts';
import type { RelationQuery } from './relations.ts';

// One constant list for each query, because the kinds of the model are cached by list.
const podKinds: readonly GroupKind[] = [{ group: '', kind: 'Pod' }];
const serviceKinds: readonly GroupKind[] = [{ group: '', kind: 'Service' }];
const configMapKinds: readonly GroupKind[] = [{ group: '', kind: 'ConfigMap' }];
const claimKinds: readonly GroupKind[] = [{ group: '', kind: 'PersistentVolumeClaim' }];
const eventKinds: readonly GroupKind[] = [{ group: '', kind: 'Event' }];
const sliceKinds: readonly GroupKind[] = [{ group: 'discovery.k8s.io', kind: 'EndpointSlice' }];
const replicaSetKind: GroupKind = { group: 'apps', kind: 'ReplicaSet' };

/** Finds the objects of these kinds, or of all kinds, that name the object as an owner. */
export function ownedBy({ object: { metadata } }: Row, kinds: readonly GroupKind[] | undefined): RelationQuery {
  const { uid, namespace } = metadata;
  return { name: 'owned', verb: 'list', kinds, namespace, related: uid === undefined ? noneRelated : relatedByOwner(uid) };
}

/** Finds the Events about the object, newest first. */
export function eventsAbout({ kind, object: { metadata } }: Row): RelationQuery {
  const { uid, name, namespace } = metadata;
  const uids = [uid, uidAtKubelet(kind, metadata)];
  const about = ({ involvedObject }: Stored<CoreV1Event>) =>
    involvedObject?.uid !== undefined && uids.includes(involvedObject.uid) && involvedObject.kind === kind.kind;
  const related: RelatedCondition = { hints: [{ by: 'mention', mention: involvedName, values: [name] }], includes: about };
  return { name: 'events', verb: 'list', kinds: eventKinds, namespace, order: newestFirst, related };
}

/**
 * Returns the value that a kubelet uses in place of the uid: for a Node its name, and for a static Pod the digest of its file. Undefined
 * for all other objects.
 */
function uidAtKubelet({ group, kind }: GroupKind, { name, annotations }: ObjectMetadata): string | undefined {
  if (group !== '') return undefined;
  if (kind === 'Node') return name;
  return kind === 'Pod' ? annotations?.[mirrorAnnotation] : undefined;
}

const mirrorAnnotation = 'kubernetes.io/config.mirror';

const involvedName: ObjectMention = {
  name: 'involved',
  valuesOf: ({ involvedObject }: Stored<CoreV1Event>) => named([involvedObject?.name]),
};

const newestFirst: CompiledOrder = {
  descending: [true],
  meaning: '',
  keysFor: () => (event) => [orderKeyOf(lastSeenOf(event), 'DateTime')],
};

/** Finds the Pods that a workload controls and that match its selector. A Deployment controls Pods through its ReplicaSets. */
export function podsOfWorkload({ kind, object }: Row): RelationQuery {
  const { metadata, spec }: TypedObject<V1Deployment> = object;
  const { uid, namespace } = metadata;
  const selector = spec?.selector;
  const query = { name: 'pods', verb: 'list', kinds: podKinds, namespace } as const;
  if (uid === undefined) return { ...query, related: noneRelated };
  if (kind.kind !== 'Deployment') return { ...query, related: relatedByController([uid], selector) };
  const between = relatedByController([uid], undefined);
  const then = (sets: readonly KubernetesObject[]) =>
    relatedByController(
      sets.map(({ metadata }) => metadata.uid).filter((one) => one !== undefined),
      selector,
    );
  return { ...query, related: { kind: replicaSetKind, related: between, then } };
}

/** Finds the Pods that run on a Node. */
export function podsOfNode({ object: { metadata } }: Row): RelationQuery {
  const { name } = metadata;
  const related: RelatedCondition = { hints: [{ by: 'node', name }], includes: ({ spec }: Stored<V1Pod>) => spec?.nodeName === name };
  return { name: 'pods', verb: 'list', kinds: podKinds, related };
}

/** Finds the Services whose selector selects a Pod. */
export function servicesOfPod({ object }: Row): RelationQuery {
  const values = pairsOfLabels(labelsOf(object));
  const related: RelatedCondition = {
    hints: [{ by: 'mention', mention: selectedPair, values }],
    includes: (service) => selects(selectorOfService(service), object),
  };
  return { name: 'services', verb: 'list', kinds: serviceKinds, namespace: object.metadata.namespace, related };
}

const pairsByLabels = new WeakMap<object, readonly string[]>();

/**
 * Returns a text for each label: key and value, as `pairOf` joins them. Cached per labels object. Mirrored Pods of one controller often
 * share a labels object, so its texts are made once. Making them for each Pod would cost more than the rest of the query.
 */
function pairsOfLabels(labels: Labels = {}): readonly string[] {
  const pairs = pairsByLabels.get(labels) ?? Object.entries(labels).map(([key, value]) => pairOf(key, value));
  pairsByLabels.set(labels, pairs);
  return pairs;
}

/** The first label pair of the selector of a Service. Every selected Pod has this pair. */
const selectedPair: ObjectMention = {
  name: 'selected',
  valuesOf: (service) => {
    const [first] = pairsOf(selectorOfService(service));
    return first === undefined ? [] : [pairOf(...first)];
  },
};

/** Finds the Pods that a Service selects. */
export function podsOfService({ object }: Row): RelationQuery {
  const selector = selectorOfService(object);
  const hints: readonly IndexHint[] = pairsOf(selector).map(([key, value]) => ({ by: 'label', key, values: [value] }));
  const related: RelatedCondition = selector === undefined ? noneRelated : { hints, includes: (pod) => selects(selector, pod) };
  return { name: 'pods', verb: 'list', kinds: podKinds, namespace: object.metadata.namespace, related };
}

const serviceNameLabel = 'kubernetes.io/service-name';

/** Finds the EndpointSlices of a Service. */
export function slicesOfService({ object: { metadata } }: Row): RelationQuery {
  const { name, namespace } = metadata;
  const related: RelatedCondition = {
    hints: [{ by: 'label', key: serviceNameLabel, values: [name] }],
    includes: (slice) => labelsOf(slice)?.[serviceNameLabel] === name,
  };
  return { name: 'endpointSlices', verb: 'list', kinds: sliceKinds, namespace, related };
}

/** Finds the ConfigMaps that a Pod uses: as volumes, in projected volumes, and in environment variables. */
export function configMapsOfPod({ object }: Row): RelationQuery {
  const { spec }: Stored<V1Pod> = object;
  const containers = [...itemsOf(spec?.initContainers), ...itemsOf(spec?.containers), ...itemsOf(spec?.ephemeralContainers)];
  const names = [
    ...itemsOf(spec?.volumes).flatMap(({ configMap, projected }) => [
      configMap?.name,
      ...itemsOf(projected?.sources).map((source) => source.configMap?.name),
    ]),
    ...containers.flatMap(({ envFrom, env }) => [
      ...itemsOf(envFrom).map(({ configMapRef }) => configMapRef?.name),
      ...itemsOf(env).map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
    ]),
  ];
  return namedBy(object, { name: 'configMaps', kinds: configMapKinds, names });
}

/** Finds the claims that a Pod mounts. */
export function claimsOfPod({ object }: Row): RelationQuery {
  return namedBy(object, { name: 'claims', kinds: claimKinds, names: claimNamesOf(object) });
}

/** Finds the Pods that mount a claim. */
export function podsOfClaim({ object: { metadata } }: Row): RelationQuery {
  const { name, namespace } = metadata;
  const related: RelatedCondition = {
    hints: [{ by: 'mention', mention: mountedClaims, values: [name] }],
    includes: (pod) => claimNamesOf(pod).includes(name),
  };
  return { name: 'pods', verb: 'list', kinds: podKinds, namespace, related };
}

const mountedClaims: ObjectMention = { name: 'claims', valuesOf: claimNamesOf };

/** Finds the Services that an Ingress routes to. */
export function servicesOfIngress({ object }: Row): RelationQuery {
  const { spec }: Stored<V1Ingress> = object;
  const backends = [
    spec?.defaultBackend?.service?.name,
    ...itemsOf(spec?.rules).flatMap(({ http }) => itemsOf(http?.paths).map(({ backend }) => backend?.service?.name)),
  ];
  return namedBy(object, { name: 'services', kinds: serviceKinds, names: backends });
}

interface NamedReference {
  readonly name: string;
  readonly kinds: readonly GroupKind[];
  readonly names: readonly (string | undefined)[];
}

function namedBy({ metadata }: KubernetesObject, { name, kinds, names }: NamedReference): RelationQuery {
  const values = new Set(named(names));
  const related: RelatedCondition = {
    hints: [{ by: 'name', values: [...values] }],
    includes: (object) => values.has(object.metadata.name),
  };
  return { name, verb: 'get', kinds, namespace: metadata.namespace, related };
}

const noneRelated: RelatedCondition = { hints: [{ by: 'name', values: [] }], includes: () => false };

function relatedByOwner(uid: string): RelatedCondition {
  const names = ({ metadata }: KubernetesObject) => itemsOf(metadata.ownerReferences).some((reference) => reference.uid === uid);
  return { hints: [{ by: 'owner', uid }], includes: names };
}

/**
 * Returns the condition for objects that one of these uids controls and that match the selector. Without a selector, every controlled
 * object matches.
 */
function relatedByController(uids: readonly string[], selector: Stored<V1LabelSelector> | undefined): RelatedCondition {
  const wanted = new Set(uids);
  const parsed = selector === undefined ? undefined : (labelSelectorOf(selector) ?? null);
  if (wanted.size === 0 || parsed === null) return noneRelated;
  const has = (object: KubernetesObject) =>
    wanted.has(controllerUidOf(object) ?? '') && (parsed === undefined || matchesLabelSelector(parsed, labelsOf(object)));
  return { hints: [{ by: 'mention', mention: controller, values: uids }], includes: has };
}

const controller: ObjectMention = { name: 'controller', valuesOf: (object) => named([controllerUidOf(object)]) };

type Labels = Readonly<Record<string, string>>;

/**
 * Returns the selector of a Service. Undefined if the Service selects nothing: it has no selector, or is an alias for a name outside the
 * cluster (ExternalName).
 */
function selectorOfService({ spec }: Stored<V1Service>): Labels | undefined {
  const selector = spec?.selector;
  if (spec?.type === 'ExternalName' || !isJsonObject(selector)) return undefined;
  return Object.keys(selector).length === 0 ? undefined : selector;
}

function selects(selector: Labels | undefined, pod: KubernetesObject): boolean {
  const labels = labelsOf(pod);
  if (selector === undefined || labels === undefined) return false;
  for (const key in selector) if (!Object.hasOwn(labels, key) || labels[key] !== selector[key]) return false;
  return true;
}

function pairsOf(selector: Labels = {}): readonly (readonly [string, string])[] {
  return Object.entries(selector).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
}

function pairOf(key: string, value: string): string {
  return `${key}=${value}`;
}

function claimNamesOf({ metadata, spec }: TypedObject<V1Pod>): readonly string[] {
  const names = itemsOf(spec?.volumes).map(({ name, ephemeral, persistentVolumeClaim }) =>
    ephemeral ? `${metadata.name}-${name}` : persistentVolumeClaim?.claimName,
  );
  return named(names);
}

function named(names: readonly (string | undefined)[]): readonly string[] {
  return names.filter((name): name is string => typeof name === 'string' && name !== '');
}
