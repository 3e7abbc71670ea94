import type { MemberCluster } from '../../../src/changes/members.ts';
import { clusterName } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createSensitiveKinds } from '../../../src/core/sensitive-kinds.ts';
import type { Manifest, ObjectKey } from '../../../src/manifests/manifest.ts';
import { noListRules } from '../../../src/manifests/merge-patch.ts';
import { keyOfManifest, textOfKey } from '../../../src/manifests/object-key.ts';
import type { ClusterShare, InventoryEntry } from '../../../src/propagate/model/inventory.ts';
import type { RenderedCluster, RenderedObject, RenderedPlan } from '../../../src/propagate/model/plan.ts';
import { type PropagationSpec, parseSpec } from '../../../src/propagate/model/spec.ts';
import type { ComparisonRules } from '../../../src/propagate/plan/copies/observed-hash.ts';
import { renderPlan } from '../../../src/propagate/plan/render-plan.ts';
import type { PlanSnapshot, SnapshotCluster, TemplateObject } from '../../../src/propagate/plan/snapshot/snapshot.ts';
import type { MirroredObject } from '../../../src/store/member-objects.ts';
import { member } from './placing/placing-fixtures.ts';

export const comparisonRules: ComparisonRules = { sensitiveKinds: createSensitiveKinds(), listRulesOf: () => noListRules };

export function configMap(name: string, data: Readonly<Record<string, string>> = { a: '1' }): Manifest {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

export function deployment(name: string, replicas: number | undefined = 8): Manifest {
  const containers = [{ name: 'web', image: 'registry.example.com/web:1.0' }];
  const template = { metadata: { labels: { app: name } }, spec: { containers } };
  const counted = replicas === undefined ? {} : { replicas };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: { ...counted, selector: { matchLabels: { app: name } }, template },
  };
}

/**
 * Parses the document of a spec, with this template.
 *
 * @throws {Error} if it is no valid spec.
 */
export function specOf(template: readonly Manifest[], more: Readonly<Record<string, unknown>> = {}): PropagationSpec {
  const document = JSON.parse(JSON.stringify({ template: template.map((json) => ({ json })), placement: {}, ...more }));
  const spec = parseSpec(document);
  if ('problems' in spec) throw new Error(JSON.stringify(spec.problems));
  return spec;
}

/** The facts about one cluster: its existing objects and the inventory. */
export interface ClusterFacts {
  readonly facts?: Partial<Omit<MemberCluster, 'name'>>;
  readonly live?: readonly KubernetesObject[];
  readonly entries?: readonly InventoryEntry[];
  readonly unread?: readonly ObjectKey[];
  readonly more?: Partial<SnapshotCluster>;
}

export interface SnapshotFacts extends Partial<Omit<PlanSnapshot, 'spec' | 'templates' | 'clusters'>> {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly template?: readonly Manifest[];
  /** Replaces the objects of the template. */
  readonly templates?: readonly TemplateObject[];
  readonly clusters?: Readonly<Record<string, ClusterFacts>>;
}

/** Makes a snapshot of these clusters, without other objects. */
export function snapshotOf({
  spec: more,
  template = [configMap('settings')],
  templates,
  clusters = {},
  ...rest
}: SnapshotFacts): PlanSnapshot {
  const objects = templates ?? template.map((manifest, index) => ({ manifest, path: `template[${index}]` }));
  return {
    namespace: 'default',
    name: 'web',
    spec: specOf(template, more),
    purpose: 'decide',
    templates: objects,
    notes: [],
    faults: [],
    sharesOutsideFleet: [],
    sources: [],
    asOfMs: 1_000,
    nowMs: Date.parse('2026-06-01T00:00:00Z'),
    ...rest,
    clusters: Object.keys(clusters)
      .toSorted()
      .map((name) => clusterOf(name, clusters[name] ?? {}, objects)),
  };
}

function clusterOf(
  name: string,
  { facts, live = [], entries, unread = [], more }: ClusterFacts,
  objects: readonly TemplateObject[],
): SnapshotCluster {
  const asked = [...objects.map(({ manifest }) => keyOfManifest(manifest)), ...(entries ?? []).map(({ key }) => key)];
  const held = live.map((object): [string, KubernetesObject] => [textOfKey(keyOfManifest(object as Manifest)), object]);
  const cluster = member(name, facts);
  return {
    cluster,
    missingKinds: [],
    capacities: new Map(),
    live: new Map<string, MirroredObject>([
      ...asked.map((key): [string, MirroredObject] => [textOfKey(key), { result: 'absent', asOfMs: 1_000 }]),
      ...held.map(([text, object]): [string, MirroredObject] => [text, { result: 'held', object, asOfMs: 1_000 }]),
      ...unread.map((key): [string, MirroredObject] => {
        const fault = { code: 'SYNCING', cluster: cluster.name, message: 'the first list is not complete yet', retry: 'LATER' } as const;
        return [textOfKey(key), { result: 'unread', fault }];
      }),
    ]),
    otherVersions: new Set(),
    autoscaled: new Set(),
    ...(entries === undefined ? {} : { share: shareOf(name, entries) }),
    ...more,
  };
}

export function shareOf(name: string, entries: readonly InventoryEntry[]): ClusterShare {
  return { name: `web.${name}`, namespace: 'default', owner: 'uid-of-web', ownerName: 'web', cluster: clusterName(name), entries };
}

/** Returns the object as a cluster stores it. */
export function existingObject(manifest: Manifest, uid: string, more: Readonly<Record<string, string>> = {}): KubernetesObject {
  return { ...manifest, metadata: { ...manifest.metadata, uid, resourceVersion: '7', ...more } };
}

export function entry(manifest: Manifest, more: Partial<InventoryEntry> = {}): InventoryEntry {
  return { key: keyOfManifest(manifest), state: 'Owned', health: 'Healthy', ...more };
}

export function planOf(facts: SnapshotFacts): RenderedPlan {
  return renderPlan(snapshotOf(facts), comparisonRules);
}

/**
 * Returns one chosen cluster of a plan.
 *
 * @throws {Error} if it is not chosen.
 */
export function clusterIn(plan: RenderedPlan, name: string): RenderedCluster {
  const found = plan.clusters.find(({ chosen }) => chosen.cluster === name);
  if (found === undefined) throw new Error(`expected ${name} to be chosen, got ${JSON.stringify(plan.rejected)}`);
  return found;
}

/** Returns the action and name of each object, such as `CREATE settings`, in write order. */
export function actionsOf(objects: readonly RenderedObject[]): readonly string[] {
  return objects.map(({ action, held, key }) => `${action}${held === undefined ? '' : ` (${held})`} ${key.name}`);
}

/** Returns the severity and code of each note, such as `ERROR NOTHING_CHOSEN`. */
export function codesOf({ notes }: Pick<RenderedPlan, 'notes'>): readonly string[] {
  return notes.map(({ severity, code }) => `${severity} ${code}`);
}
