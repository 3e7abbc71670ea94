import type { Access, AccessRequest, Visibility } from '../../src/access/access.ts';
import { createLocalAccess } from '../../src/access/local-access.ts';
import type { ClusterName } from '../../src/core/names.ts';

/**
 * The visible namespaces, by caller and cluster. `all`: every namespace. An empty list: none, but the cluster is visible. Clusters that
 * are not listed are hidden.
 */
export type Rights = Readonly<Record<string, Readonly<Record<string, readonly string[] | 'all'>>>>;

/** Creates an access that decides by this table. It answers late, as one that asks a cluster does. */
export function createRestrictingAccess(rights: Rights): Access {
  const of = (caller: string, cluster: ClusterName) => (Object.hasOwn(rights, caller) ? rights[caller]?.[cluster] : undefined);
  return {
    ...createLocalAccess(),
    maySeeCluster: ({ key }, cluster) => of(key, cluster) !== undefined,
    visibilityOf: async ({ caller, cluster, kind }: AccessRequest): Promise<Visibility> => {
      const seen = of(caller.key, cluster);
      if (seen === 'all') return { type: 'all' };
      if (seen !== undefined && seen.length > 0) return { type: 'namespaces', namespaces: new Set(seen) };
      return { type: 'none', fault: { code: 'FORBIDDEN', cluster, kind, message: 'not for you', retry: 'NEVER' } };
    },
  };
}

/** Creates an access that answers at once and allows everything except what `isHidden` returns true for. */
export function accessBut(isHidden: (question: AccessRequest) => boolean): Access {
  return {
    ...createLocalAccess(),
    visibilityOf(question): Visibility {
      const { cluster, kind } = question;
      if (!isHidden(question)) return { type: 'all' };
      return { type: 'none', fault: { code: 'FORBIDDEN', cluster, kind, message: 'not for you', retry: 'NEVER' } };
    },
  };
}
