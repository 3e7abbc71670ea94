import { labelsAt, listAt, numberAt, textAt } from '../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { marks } from '../../../src/propagate/model/propagation.ts';
import type { ControllerWorld } from '../../propagate/controller/controller-world.ts';

/** The clusters of a failover schedule. The first one is the hub. */
export const failoverClusters = ['hub', 'south', 'east', 'west'] as const;

/** A Deployment `web` in one cluster, as an administrator reads it. */
export interface LiveCopy {
  readonly cluster: string;
  readonly uid: string;
  /** `left`: it has no mark of Muster, because `purge` Never released it. `stranger`: another client created it. */
  readonly owner: 'muster' | 'left' | 'stranger';
  readonly wanted: number;
  readonly available: number;
  readonly object: KubernetesObject;
}

/** An eviction that the hub has recorded. */
export interface RecordedEviction {
  readonly cluster: string;
  readonly cause: string;
  /** The clusters that took over. Undefined: copies are still planned in the evicted cluster. */
  readonly to: readonly string[] | undefined;
}

/** Reads of a fleet with one Propagation `web`, as its API servers have it now. */
export class FailingFleet {
  readonly world: ControllerWorld;
  /** The objects of other clients, by uid. */
  readonly strangers = new Map<string, LiveCopy>();

  constructor(world: ControllerWorld) {
    this.world = world;
  }

  cluster(name: string) {
    return this.world.world.cluster(name);
  }

  nowMs(): number {
    return this.world.world.clock.monotonic();
  }

  copyIn(cluster: string): LiveCopy | undefined {
    const object = this.cluster(cluster).get('Deployment.apps', 'web', 'default');
    return object === undefined ? undefined : this.copyOf(cluster, object);
  }

  copyOf(cluster: string, object: KubernetesObject): LiveCopy {
    const uid = object.metadata.uid ?? '';
    const isMarked = labelsAt(object, 'metadata', 'labels')[marks.propagation] !== undefined;
    return {
      ...{ cluster, uid, object },
      owner: this.strangers.has(uid) ? 'stranger' : isMarked ? 'muster' : 'left',
      wanted: numberAt(object, 'spec', 'replicas') ?? 0,
      available: numberAt(object, 'status', 'availableReplicas') ?? 0,
    };
  }

  copies(): readonly LiveCopy[] {
    return failoverClusters.flatMap((name) => this.copyIn(name) ?? []);
  }

  propagation(): KubernetesObject | undefined {
    return this.cluster('hub').get('Propagation.muster.dev', 'web', 'default');
  }

  phase(): string | undefined {
    return textAt(this.propagation() ?? {}, 'status', 'phase');
  }

  evictions(): readonly RecordedEviction[] {
    return listAt(this.propagation() ?? {}, 'status', 'evictions').map((one) => ({
      cluster: textAt(one, 'cluster') ?? '',
      cause: textAt(one, 'cause') ?? '',
      to: (one as { readonly to?: readonly string[] }).to,
    }));
  }

  /** The uids that the inventory has, sorted. */
  ownedUids(): readonly string[] {
    const shares = this.cluster('hub').objects('ClusterShare.muster.dev');
    return shares.flatMap((share) => listAt(share, 'objects').map((one) => textAt(one, 'uid') ?? '')).toSorted();
  }

  /** The uids in `status.leftBehind`. */
  leftBehindUids(): readonly string[] {
    return listAt(this.propagation() ?? {}, 'status', 'leftBehind').map((one) => textAt(one, 'uid') ?? '');
  }
}
