import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { matchesLabelSelector } from '../../core/selectors.ts';
import { itemsOf } from '../../core/stored.ts';
import { compareText } from '../../core/text.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey, textOfKey } from '../../manifests/object-key.ts';
import { dependenciesOf } from '../../propagate/plan/snapshot/dependencies.ts';
import type { MigrationSpec } from '../model/migration.ts';
import { partKinds, selectedKinds, workloadKinds } from './app-kinds.ts';
import { backendsOf, partsOf, secretNamesOf } from './app-parts.ts';
import type { DiscoveredObject, SourceObjects } from './source-objects.ts';

/** One application of a migration. */
export interface FoundApp {
  readonly key: ObjectKey;
  /** The workload. Undefined: `apps` names it, but it does not exist. */
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

/**
 * Returns the `textOfKey`s of the objects that workloads, ServiceAccounts and Ingresses outside the migration need: they must stay in the
 * source. Skips a workload that a workload of a known kind controls, because that one has the same needs.
 *
 * @param moving The `textOfKey`s of the workloads that move.
 */
export function neededByOthers(
  source: SourceObjects,
  { namespaces, moving }: { readonly namespaces: Iterable<string>; readonly moving: ReadonlySet<string> },
): ReadonlySet<string> {
  const needed = new Set<string>();
  for (const namespace of namespaces) {
    const leaving = new Set<string>();
    for (const workload of workloadKinds.flatMap((kind) => source.all(kind, namespace))) {
      if (moving.has(textOfKey(workload.key))) for (const { key } of partsOf(workload, source)) leaving.add(textOfKey(key));
      if (moving.has(textOfKey(workload.key)) || isOwnedByKnownKind(workload) || hasEnded(workload)) continue;
      for (const { key } of partsOf(workload, source)) needed.add(textOfKey(key));
    }
    addNeedsOfHolders(source, { namespace, needed, leaving });
  }
  return needed;
}

interface NamespaceNeeds {
  readonly namespace: string;
  readonly needed: Set<string>;
  /** The `textOfKey`s of the objects that belong to workloads that move. */
  readonly leaving: ReadonlySet<string>;
}

/** Adds the Secrets that remaining ServiceAccounts and Ingresses use. An Ingress also remains if it leads to a remaining Service. */
function addNeedsOfHolders(source: SourceObjects, { namespace, needed, leaving }: NamespaceNeeds): void {
  const stays = ({ key }: DiscoveredObject) => needed.has(textOfKey(key)) || !leaving.has(textOfKey(key));
  const secrets = new Set<string>();
  for (const account of source.all(partKinds.serviceAccount, namespace).filter(stays))
    for (const name of secretNamesOf(account.object, ['imagePullSecrets', 'secrets'])) secrets.add(name);
  const services = new Set(
    source
      .all(partKinds.service, namespace)
      .filter(stays)
      .map(({ key }) => key.name),
  );
  for (const ingress of source.all(partKinds.ingress, namespace)) {
    if (!stays(ingress) && !backendsOf(ingress.object).some((name) => services.has(name))) continue;
    needed.add(textOfKey(ingress.key));
    for (const { name } of dependenciesOf(ingress.object as Manifest)) secrets.add(name);
  }
  for (const { key } of source.all(partKinds.secret, namespace)) if (secrets.has(key.name)) needed.add(textOfKey(key));
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
