import { canonicalJson } from '../../../src/core/json/canonical-json.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { MigratedApp } from '../../../src/migrate/model/migration-status-definition.ts';
import { type ClusterContent, clusterNames, contentOf, keyOf, type MovingFleet } from './moving-fleet.ts';
import { type ScheduledApp, secretValue } from './random-fleet.ts';

/** The state of the clusters before a migration, and how it ended. */
export interface MoveOutcome {
  readonly before: Readonly<Record<'south' | 'east', ClusterContent>>;
  /** The last step of each application of the migration, by name. Applications outside the migration have none. */
  readonly steps: ReadonlyMap<string, MigratedApp['step']>;
  /** The factor for the replicas in the target. */
  readonly copies: number;
}

/**
 * Returns one sentence per object that is not as the steps say, when the fleet is at rest. An application that is Done has left south, and
 * is in east. Any other one is in south with the manifests of before, and nothing of it is in east. Claims stay in both. Strangers and
 * objects outside the migration are as they were. No value of a Secret is on the hub.
 */
export function violationsAtRest(fleet: MovingFleet, outcome: MoveOutcome): readonly string[] {
  return [
    ...touchedStrangers(fleet),
    ...violationsInSouth(fleet, outcome),
    ...violationsInEast(fleet, outcome),
    ...propagatedWrongly(fleet, outcome),
    ...leaks(fleet),
  ];
}

function touchedStrangers({ strangers, cluster: clusterNamed }: MovingFleet): readonly string[] {
  return [...strangers].flatMap(([uid, { cluster, object }]) => {
    const name = `${cluster}: the stranger ${keyOf(object)}`;
    const now = contentOf(clusterNamed(cluster)).get(keyOf(object));
    return now?.metadata.uid === uid ? differences(name, object, now) : [`${name} is gone`];
  });
}

function isDone({ steps }: MoveOutcome, { name }: ScheduledApp): boolean {
  return steps.get(name) === 'Done';
}

function ownersOf({ apps }: MovingFleet, key: string): readonly ScheduledApp[] {
  return apps.filter(({ workload, parts }) => [workload, ...parts].some((object) => keyOf(object) === key));
}

function violationsInSouth(fleet: MovingFleet, outcome: MoveOutcome): readonly string[] {
  const live = contentOf(fleet.cluster('south'));
  const before = [...outcome.before.south].filter(([key]) => !isPropagated(fleet, key));
  const expected = before.flatMap(([key, object]) => {
    const owners = ownersOf(fleet, key);
    const hasLeft = object.kind !== 'PersistentVolumeClaim' && owners.length > 0 && owners.every((app) => isDone(outcome, app));
    const now = live.get(key);
    if (hasLeft) return now === undefined || isStranger(fleet, now) ? [] : [`south still has ${key}`];
    if (now === undefined) return [`south lacks ${key}`];
    if (isStranger(fleet, now)) return [];
    return differences(`south: ${key}`, object, now);
  });
  const known = new Set(before.map(([key]) => key));
  return [...expected, ...unexpected(fleet, 'south', { live, known })];
}

function violationsInEast(fleet: MovingFleet, outcome: MoveOutcome): readonly string[] {
  const live = contentOf(fleet.cluster('east'));
  const kept = [...outcome.before.east].filter(([key]) => !isPropagated(fleet, key));
  const unchanged = kept.flatMap(([key, object]) => {
    const now = live.get(key);
    if (now === undefined || now.metadata.uid !== object.metadata.uid) return [`east: ${key} was replaced`];
    return differences(`east: ${key}`, object, now);
  });
  const done = fleet.apps.filter((app) => app.propagation === undefined && isDone(outcome, app));
  const moved = done.flatMap(({ workload, parts }) =>
    [workload, ...parts].flatMap((object) => {
      const now = live.get(keyOf(object));
      if (now === undefined) return [`east lacks ${keyOf(object)}`];
      if (isStranger(fleet, now)) return [];
      return differences(`east: ${keyOf(object)}`, withCopies(object, outcome.copies), withoutMarks(now));
    }),
  );
  const claims = fleet.apps.flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'PersistentVolumeClaim'));
  const known = new Set([
    ...kept.map(([key]) => key),
    ...[...done.flatMap(({ workload, parts }) => [workload, ...parts]), ...claims].map(keyOf),
  ]);
  return [...unchanged, ...moved, ...unexpected(fleet, 'east', { live, known })];
}

function unexpected(
  fleet: MovingFleet,
  cluster: string,
  { live, known }: { readonly live: ClusterContent; readonly known: ReadonlySet<string> },
): readonly string[] {
  return [...live].flatMap(([key, object]) => {
    return isStranger(fleet, object) || known.has(key) || isPropagated(fleet, key) ? [] : [`${cluster} has ${key}, which should not exist`];
  });
}

function isPropagated(fleet: MovingFleet, key: string): boolean {
  return ownersOf(fleet, key).some(({ propagation }) => propagation !== undefined);
}

function isStranger({ strangers }: MovingFleet, { metadata }: KubernetesObject): boolean {
  return strangers.has(metadata.uid ?? '');
}

/** Checks the placement of Propagations and the sum of their replicas. Their copies have marks, so their manifests are not compared. */
function propagatedWrongly(fleet: MovingFleet, outcome: MoveOutcome): readonly string[] {
  return fleet.apps.flatMap((app) => {
    const { name, propagation, workload } = app;
    if (propagation === undefined) return [];
    const counts = clusterNames.map((cluster) => specReplicas(fleet.cluster(cluster).get(`${workload.kind}.apps`, name, 'default')));
    const sum = counts.reduce((total, count) => total + count, 0);
    const needed = fleet.needed.get(name) ?? 0;
    const live = fleet.cluster('north').get('Propagation.muster.dev', name, 'default')?.spec as { readonly placement: Json } | undefined;
    const { placement } = propagation as unknown as { readonly placement: Json };
    const isKept = canonicalJson(live?.placement ?? null) === canonicalJson(placement);
    return [
      ...(sum === needed ? [] : [`${name}: expected ${needed} replicas in all, got ${counts.join(' + ')}`]),
      ...(isDone(outcome, app) && counts[1] !== 0 ? [`${name} is Done, and has replicas in south`] : []),
      ...(isDone(outcome, app) || isKept ? [] : [`${name}: expected its placement of before, got ${JSON.stringify(live?.placement)}`]),
    ];
  });
}

function specReplicas(workload: KubernetesObject | undefined): number {
  return (workload?.spec as { readonly replicas?: number } | undefined)?.replicas ?? 0;
}

function leaks({ cluster }: MovingFleet): readonly string[] {
  const kinds = ['Migration.muster.dev', 'ControllerRevision.apps', 'Propagation.muster.dev', 'ClusterShare.muster.dev'];
  return kinds.flatMap((kind) =>
    cluster('north')
      .objects(kind)
      .flatMap((object) => (JSON.stringify(object).includes(secretValue) ? [`the hub has data of a Secret in ${keyOf(object)}`] : [])),
  );
}

function differences(name: string, before: KubernetesObject, after: KubernetesObject): readonly string[] {
  const [a, b] = [before, after].map((object) => canonicalJson(manifestOf(object)));
  return a === b ? [] : [`${name}: expected ${a}, got ${b}`];
}

/** Returns what a user wrote: without the status, and without the fields that a cluster sets. */
function manifestOf(object: KubernetesObject): JsonObject {
  const { status: _status, spec: _spec, metadata, ...rest } = object as unknown as JsonObject & { readonly metadata: JsonObject };
  const { name, labels, annotations, finalizers } = metadata;
  const written = Object.entries((annotations ?? {}) as JsonObject).filter(([key]) => !key.startsWith('deployment.kubernetes.io/'));
  const spec = object.spec as JsonObject | undefined;
  const defaults = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy', 'sessionAffinity', 'type'];
  const kept = Object.entries(spec ?? {}).filter(
    ([key, value]) => rest.kind !== 'Service' || !defaults.includes(key) || (key === 'clusterIP' && value === 'None'),
  );
  return {
    ...rest,
    ...(kept.length === 0 ? {} : { spec: Object.fromEntries(kept) }),
    metadata: { name, labels: labels ?? {}, annotations: Object.fromEntries(written), finalizers: finalizers ?? [] } as JsonObject,
  };
}

/** Returns a copy of a migration without the marks that copies have. */
function withoutMarks(object: KubernetesObject): KubernetesObject {
  const unmarked = (map: Readonly<Record<string, string>> | null | undefined) =>
    Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !key.startsWith('muster.dev/')));
  const { labels, annotations } = object.metadata;
  return { ...object, metadata: { ...object.metadata, labels: unmarked(labels), annotations: unmarked(annotations) } };
}

function withCopies(object: KubernetesObject, copies: number): KubernetesObject {
  const spec = object.spec as JsonObject | undefined;
  const scaled = ['replicas', 'minReplicas', 'maxReplicas'].flatMap((field) => {
    const count = spec?.[field];
    return typeof count === 'number' ? [[field, Math.max(1, Math.ceil(count * copies))] as const] : [];
  });
  return scaled.length === 0 ? object : { ...object, spec: { ...spec, ...Object.fromEntries(scaled) } };
}
