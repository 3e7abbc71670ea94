import type { JsonObject } from '../../core/json.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { matchesLabelSelector } from '../../core/selectors.ts';
import { itemsOf } from '../../core/stored.ts';
import { compareText } from '../../core/text.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey, textOfKey } from '../../manifests/object-key.ts';
import { tokenAccountOf } from '../../manifests/secret-content.ts';
import { dependenciesOf } from '../../propagate/plan/snapshot/dependencies.ts';
import type { MigrationSpec } from '../model/migration.ts';
import { partKinds, selectedKinds, workloadKinds } from './app-kinds.ts';
import { backendsOf, partsOf, secretNamesOf } from './app-parts.ts';
import type { DiscoveredObject, SourceObjects } from './source-objects.ts';

/** One application of a migration. */
export interface FoundApp {
  readonly key: ObjectKey;
  /** The workload. Undefined: `apps` names it, but it does not exist, or has another uid. */
  readonly workload: DiscoveredObject | undefined;
  /** The other objects that belong to the application. */
  readonly parts: readonly DiscoveredObject[];
}

/** The applications of a migration, in the order in which they move. */
export interface FoundApps {
  readonly apps: readonly FoundApp[];
  /** The entries of `priority` that match no application. */
  readonly unknown: readonly string[];
}

/**
 * Finds the applications of a spec in the source: those in `apps`, or those that `labels` selects. The order is that of `priority`, then of
 * namespace and name.
 *
 * @param namespace The namespace of the Migration, for entries and selectors without a namespace.
 */
export function findApps(spec: MigrationSpec, namespace: string, source: SourceObjects): FoundApps {
  const named = spec.apps?.map(({ key, uid }) => namedApp({ ...key, namespace: key.namespace ?? namespace }, uid, source));
  const found = named ?? selectedApps(spec, spec.namespaces ?? [namespace], source);
  const once = [...new Map(found.map((app) => [textOfKey(app.key), app])).values()];
  const rankOf = ({ namespace: place = '', name }: ObjectKey) => {
    const rank = spec.priority.findIndex((wanted) => wanted === name || wanted === `${place}/${name}`);
    return rank === -1 ? spec.priority.length : rank;
  };
  const names = new Set(once.flatMap(({ key: { namespace: place = '', name } }) => [name, `${place}/${name}`]));
  return {
    apps: once.toSorted((a, b) => rankOf(a.key) - rankOf(b.key) || compareKeys(a.key, b.key)),
    unknown: spec.priority.filter((wanted) => !names.has(wanted)),
  };
}

/** The objects that a migration takes out of the source. */
interface MovingObjects {
  readonly namespaces: Iterable<string>;
  /** The `textOfKey`s of the workloads that move. Default: none. */
  readonly moving?: ReadonlySet<string>;
  /** The uids of workloads that move. The objects that they control have the same needs. Default: none. */
  readonly uids?: ReadonlySet<string>;
  /** The `textOfKey`s of objects that leave in addition to those that belong to workloads of `moving`. Default: none. */
  readonly leaving?: ReadonlySet<string>;
}

/**
 * Returns the `textOfKey`s of the objects that workloads, ServiceAccounts and Ingresses outside the migration need: they must stay in the
 * source. Skips a workload whose controller is of a known kind, because its controller has the same needs. Skips a workload whose controller
 * moves, and a Pod that has ended.
 */
export function neededByOthers(source: SourceObjects, moving: MovingObjects): ReadonlySet<string> {
  return new Set(holdersByNeed(source, moving).keys());
}

/** Returns the `textOfKey`s of `neededByOthers`, each with one object outside the migration that needs the object. */
function holdersByNeed(
  source: SourceObjects,
  { namespaces, moving = new Set(), uids = new Set(), leaving: known = new Set() }: MovingObjects,
): ReadonlyMap<string, DiscoveredObject> {
  const needed = new Map<string, DiscoveredObject>();
  const isMoving = ({ key, object: { metadata } }: DiscoveredObject) =>
    moving.has(textOfKey(key)) || uids.has(metadata.uid ?? '') || uids.has(controllerOf(metadata)?.uid ?? '');
  for (const namespace of namespaces) {
    const leaving = new Set(known);
    for (const workload of workloadKinds.flatMap((kind) => source.all(kind, namespace))) {
      if (moving.has(textOfKey(workload.key))) for (const { key } of partsOf(workload, source)) leaving.add(textOfKey(key));
      if (isMoving(workload) || isOwnedByKnownKind(workload) || hasEnded(workload)) continue;
      for (const { key } of partsOf(workload, source)) needed.set(textOfKey(key), workload);
    }
    addNeedsOfHolders(source, { namespace, needed, leaving });
  }
  return needed;
}

/**
 * Returns an object outside the migration that needs this object of the source. Undefined if there is none. Takes time in proportion to the
 * objects of the namespace.
 */
export function outsideHolderOf(
  key: ObjectKey,
  source: SourceObjects,
  moving: Omit<MovingObjects, 'namespaces'>,
): DiscoveredObject | undefined {
  const { namespace = '' } = key;
  return holdersByNeed(partsAround(key, source), { ...moving, namespaces: [namespace] }).get(textOfKey(key));
}

/**
 * Returns the objects of the source among which `neededByOthers` can find a need for this object:
 *
 * - all workloads, and the object itself
 * - the Ingresses that use the object, and the Services to which these Ingresses lead
 * - the ServiceAccounts that name the object, and the token Secrets of these accounts
 */
function partsAround(key: ObjectKey, source: SourceObjects): SourceObjects {
  const { namespace = '', name } = key;
  const kind = keyOfKind(groupKindOfKey(key));
  const text = textOfKey(key);
  const own = (of: GroupKind) => source.all(of, namespace).filter((one) => textOfKey(one.key) === text);
  const isSecret = kind === keyOfKind(partKinds.secret);
  const usesSecret = ({ object }: DiscoveredObject) => isSecret && dependenciesOf(object as Manifest).some((one) => one.name === name);
  const namesSecret = ({ object }: DiscoveredObject) => isSecret && secretNamesOf(object, ['imagePullSecrets', 'secrets']).includes(name);
  const ingresses = source.all(partKinds.ingress, namespace).filter((one) => textOfKey(one.key) === text || usesSecret(one));
  const backends = new Set(ingresses.flatMap(({ object }) => backendsOf(object)));
  const services = source.all(partKinds.service, namespace).filter((one) => textOfKey(one.key) === text || backends.has(one.key.name));
  const accounts = source.all(partKinds.serviceAccount, namespace).filter((one) => textOfKey(one.key) === text || namesSecret(one));
  const accountNames = new Set(accounts.map((one) => one.key.name));
  const isToken = ({ object }: DiscoveredObject) => accountNames.has(tokenAccountOf(object as JsonObject) ?? '');
  const secrets = source.all(partKinds.secret, namespace).filter((one) => textOfKey(one.key) === text || isToken(one));
  const known = new Map<string, readonly DiscoveredObject[]>([
    ...Object.values(partKinds).map((of) => [keyOfKind(of), own(of)] as const),
    [keyOfKind(partKinds.ingress), ingresses],
    [keyOfKind(partKinds.service), services],
    [keyOfKind(partKinds.serviceAccount), accounts],
    [keyOfKind(partKinds.secret), secrets],
  ]);
  return { all: (of, place) => known.get(keyOfKind(of)) ?? source.all(of, place) };
}

interface NamespaceNeeds {
  readonly namespace: string;
  /** The holders by the `textOfKey`s of the objects that they need. */
  readonly needed: Map<string, DiscoveredObject>;
  /** The `textOfKey`s of the objects that belong to workloads that move. */
  readonly leaving: ReadonlySet<string>;
}

/**
 * Adds the ServiceAccounts of remaining token Secrets, which Kubernetes would delete with their account, and the Secrets that remaining
 * ServiceAccounts and Ingresses use. An Ingress also remains if it leads to a remaining Service.
 */
function addNeedsOfHolders(source: SourceObjects, { namespace, needed, leaving }: NamespaceNeeds): void {
  const stays = ({ key }: DiscoveredObject) => needed.has(textOfKey(key)) || !leaving.has(textOfKey(key));
  const accounts = new Map(source.all(partKinds.serviceAccount, namespace).map((account) => [account.key.name, account]));
  for (const secret of source.all(partKinds.secret, namespace).filter(stays)) {
    const account = accounts.get(tokenAccountOf(secret.object as JsonObject) ?? '');
    // A Secret in the list of its account was created for it by a controller.
    if (account !== undefined && !secretNamesOf(account.object, ['secrets']).includes(secret.key.name))
      needed.set(textOfKey(account.key), secret);
  }
  const secrets = new Map<string, DiscoveredObject>();
  for (const account of [...accounts.values()].filter(stays))
    for (const name of secretNamesOf(account.object, ['imagePullSecrets', 'secrets'])) secrets.set(name, account);
  const services = new Map(
    source
      .all(partKinds.service, namespace)
      .filter(stays)
      .map((service) => [service.key.name, service]),
  );
  for (const ingress of source.all(partKinds.ingress, namespace)) {
    const holder = stays(ingress) ? ingress : backendsOf(ingress.object).flatMap((name) => services.get(name) ?? [])[0];
    if (holder === undefined) continue;
    const text = textOfKey(ingress.key);
    if (!needed.has(text)) needed.set(text, holder);
    for (const { name } of dependenciesOf(ingress.object as Manifest)) secrets.set(name, holder);
  }
  for (const { key } of source.all(partKinds.secret, namespace)) {
    const holder = secrets.get(key.name);
    if (holder !== undefined) needed.set(textOfKey(key), holder);
  }
}

function namedApp(key: ObjectKey, uid: string | undefined, source: SourceObjects): FoundApp {
  const workload = source.all(groupKindOfKey(key), key.namespace ?? '').find((one) => one.key.name === key.name);
  if (workload === undefined || (uid !== undefined && workload.object.metadata.uid !== uid)) return { key, workload: undefined, parts: [] };
  return foundApp(workload, source);
}

function selectedApps({ labels }: MigrationSpec, namespaces: readonly string[], source: SourceObjects): readonly FoundApp[] {
  if (labels === undefined) return [];
  return selectedKinds
    .flatMap((kind) => namespaces.flatMap((namespace) => source.all(kind, namespace)))
    .filter(({ object: { metadata } }) => matchesLabelSelector(labels, metadata.labels ?? {}) && controllerOf(metadata) === undefined)
    .map((workload) => foundApp(workload, source));
}

function foundApp(workload: DiscoveredObject, source: SourceObjects): FoundApp {
  return { key: workload.key, workload, parts: partsOf(workload, source) };
}

function controllerOf({ ownerReferences }: DiscoveredObject['object']['metadata']) {
  return itemsOf(ownerReferences).find(({ controller }) => controller === true);
}

const knownKinds: ReadonlySet<string> = new Set(workloadKinds.map(keyOfKind));

function isOwnedByKnownKind({ object: { metadata } }: DiscoveredObject): boolean {
  const owner = controllerOf(metadata);
  if (owner === undefined) return false;
  const kind: GroupKind = groupKindOfKey({ apiVersion: owner.apiVersion ?? '', kind: owner.kind ?? '' });
  return knownKinds.has(keyOfKind(kind));
}

/** True for a Pod that has ended. It needs nothing any more. */
function hasEnded({ key, object }: DiscoveredObject): boolean {
  const { status } = object as { readonly status?: { readonly phase?: unknown } };
  return key.kind === 'Pod' && (status?.phase === 'Succeeded' || status?.phase === 'Failed');
}

function compareKeys(a: ObjectKey, b: ObjectKey): number {
  return compareText(a.namespace ?? '', b.namespace ?? '') || compareText(a.name, b.name) || compareText(a.kind, b.kind);
}
