import { canonicalJson, sha256OfText } from '../../core/json/canonical-json.ts';
import type { JsonObject } from '../../core/json.ts';
import { listAt, numberAt } from '../../core/json-at.ts';
import type { ClusterName } from '../../core/names.ts';
import { withValueAt } from '../../manifests/json-edits.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import { inWriteOrder } from '../../manifests/write-order.ts';
import { isTrafficPart, templateHolderOf } from '../discover/app-parts.ts';
import type { FoundApp } from '../discover/find-apps.ts';
import { type DeletedOwner, isClaimKey, isKeptFromOwner, outlivingKinds } from '../discover/owned-objects.ts';
import type { DiscoveredObject, SourceObjects } from '../discover/source-objects.ts';
import type { LeavingObject, PlannedTargetObject } from '../model/migration-plan.ts';
import { movableManifest, movedReplicas, withMovedBounds } from './movable-manifest.ts';

/** An application with its counts and manifests, before any check. */
export interface RenderedApp {
  readonly key: ObjectKey;
  readonly workload: DiscoveredObject;
  /** The object that has the pod template. Usually the workload itself. */
  readonly template: DiscoveredObject;
  readonly from: number;
  readonly to: number;
  /** In write order. */
  readonly target: readonly PlannedTargetObject[];
  /** The workload and its parts. */
  readonly objects: readonly DiscoveredObject[];
}

/** The facts by which applications are rendered. */
export interface RenderFacts {
  readonly cluster: ClusterName;
  readonly source: SourceObjects;
  /** The path of the count of the workload. */
  readonly countPath: readonly string[];
  readonly factor: number;
}

/** Renders the objects of an application for the target. An absent count is 1, the default of API servers. */
export function renderApp(app: FoundApp & { readonly workload: DiscoveredObject }, facts: RenderFacts): RenderedApp {
  const { workload, parts, key } = app;
  const from = numberAt(workload.object, ...facts.countPath) ?? 1;
  const to = movedReplicas(from, facts.factor);
  const objects = [workload, ...parts];
  const target = objects.map((object) => {
    const count = object === workload ? { path: facts.countPath, replicas: to } : undefined;
    return targetObject(object, facts, count);
  });
  const template = templateHolderOf(workload, facts.source);
  return { key, workload, template, from, to, target: inWriteOrder(target), objects };
}

interface WrittenCount {
  readonly path: readonly string[];
  readonly replicas: number;
}

function targetObject(object: DiscoveredObject, { cluster, factor }: RenderFacts, count: WrittenCount | undefined): PlannedTargetObject {
  const { manifest, sourceVersion } = movableManifest(object, cluster);
  const counted = count === undefined ? manifest : withValueAt(manifest, count.path, count.replicas);
  const desired = withMovedBounds(counted, factor);
  const desiredHash = sha256OfText(`${canonicalJson(desired)} ${sourceVersion ?? ''}`);
  return { key: object.key, action: 'CREATE', stage: stageOf(object), desired, desiredHash };
}

/**
 * Returns the objects of an application in the source, in reverse write order.
 *
 * @param needed The `textOfKey`s of the objects that stay, because workloads outside the migration need them, for example.
 */
export function leavingObjects(objects: readonly DiscoveredObject[], needed: ReadonlySet<string>): readonly LeavingObject[] {
  const leaving = objects.map(({ key, object }): LeavingObject => {
    const stays = needed.has(textOfKey(key)) || isClaimKey(key);
    const { uid } = object.metadata;
    const action = stays ? 'HOLD' : 'DELETE';
    return { key, action, stage: stageOf({ key, object }), object, ...(uid === undefined ? {} : { uid }) };
  });
  return inWriteOrder(leaving).toReversed();
}

/** True if the application keeps data in volumes: it has claims, or a StatefulSet makes them. */
export function hasVolumes({ objects, workload }: RenderedApp): boolean {
  return objects.some(({ key }) => isClaimKey(key)) || listAt(workload.object as JsonObject, 'spec', 'volumeClaimTemplates').length > 0;
}

function stageOf(object: DiscoveredObject): 'Surge' | 'Traffic' {
  return isTrafficPart(object) ? 'Traffic' : 'Surge';
}

/**
 * Returns the objects that the objects of an application own, and that stay in the source although they do not belong to the application.
 * Kubernetes would delete them with their owner.
 */
export function keptOwned({ objects, key }: RenderedApp, source: SourceObjects): readonly DiscoveredObject[] {
  const own = new Set(objects.map((one) => textOfKey(one.key)));
  const owners = objects.flatMap(({ key: of, object }): DeletedOwner[] => {
    const { uid } = object.metadata;
    return uid === undefined || isClaimKey(of) ? [] : [{ key: of, uid }];
  });
  const near = outlivingKinds.flatMap((kind) => source.all(kind, key.namespace ?? ''));
  return near.filter((one) => !own.has(textOfKey(one.key)) && owners.some((owner) => isKeptFromOwner(one, owner)));
}
