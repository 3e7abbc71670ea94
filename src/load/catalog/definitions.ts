import type { GroupKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { MirrorLease, Mirrors } from '../../watch/mirrors.ts';

/** The kind that defines custom kinds. */
export const definitionKind: GroupKind = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' };

/** The CustomResourceDefinitions of one cluster. */
export interface ClusterDefinitions {
  readonly cluster: ClusterName;
  /** The current definitions. They are shared with the mirror. */
  readonly objects: Iterable<KubernetesObject>;
  /** True once the first list is complete or has failed. */
  readonly settled: boolean;
}

/** The CustomResourceDefinitions of all clusters, followed until the signal aborts. */
export interface Definitions {
  now(): readonly ClusterDefinitions[];
}

/**
 * Follows the mirrors of CustomResourceDefinitions in all clusters that serve them, and calls back after each change.
 *
 * The gateway reads them for itself and not for a caller. There is one schema for all callers, so the names of kinds are no secret between them.
 */
export function followDefinitions(mirrors: Mirrors, onChange: () => void, signal: AbortSignal): Definitions {
  const followed = new Map<ClusterName, FollowedMirror>();

  function follow(cluster: ClusterName): void {
    if (signal.aborted || followed.has(cluster)) return;
    const lease = mirrors.acquire(cluster, definitionKind);
    if (lease === undefined) return;
    const ended = new AbortController();
    followed.set(cluster, { lease, ended });
    lease.mirror.store.follow((events) => {
      // The kind or the cluster has left. If it comes back, it gets another mirror.
      if (events.at(-1)?.type === 'gone') unfollow(cluster);
      onChange();
    }, ended.signal);
  }

  function unfollow(cluster: ClusterName): void {
    const known = followed.get(cluster);
    followed.delete(cluster);
    known?.ended.abort();
    known?.lease[Symbol.dispose]();
  }

  mirrors.onChange((change) => {
    if (change.type === 'left') unfollow(change.cluster);
    else follow(change.cluster);
    const settles = change.type === 'mirrored' && change.kind.kind === definitionKind.kind && change.kind.group === definitionKind.group;
    if (change.type === 'left' || settles) onChange();
  }, signal);
  for (const name of mirrors.members()) follow(name);
  signal.addEventListener('abort', () => [...followed.keys()].forEach(unfollow), { once: true });

  return {
    now: () =>
      [...followed].map(([cluster, { lease }]) => ({ cluster, objects: lease.mirror.store.objects(), settled: lease.mirror.settled() })),
  };
}

interface FollowedMirror {
  readonly lease: MirrorLease;
  readonly ended: AbortController;
}
