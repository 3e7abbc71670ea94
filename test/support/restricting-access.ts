import type { Access, AccessRequest, Visibility } from '../../src/access/access.ts';
import type { ClusterName } from '../../src/core/names.ts';

/** By caller, then by cluster: all of it, or these namespaces; none of it for an empty list. A cluster that is not said is hidden. */
export type Rights = Readonly<Record<string, Readonly<Record<string, readonly string[] | 'all'>>>>;

/** Access that goes by a table: caller, then cluster, then namespaces. Answers late, as one that asks a cluster does. */
export function createRestrictingAccess(rights: Rights): Access {
  const of = (caller: string, cluster: ClusterName) => (Object.hasOwn(rights, caller) ? rights[caller]?.[cluster] : undefined);
  return {
    maySeeCluster: ({ key }, cluster) => of(key, cluster) !== undefined,
    visibilityOf: async ({ caller, cluster, kind }: AccessRequest): Promise<Visibility> => {
      const seen = of(caller.key, cluster);
      if (seen === 'all') return { type: 'all' };
      if (seen !== undefined && seen.length > 0) return { type: 'namespaces', namespaces: new Set(seen) };
      return { type: 'none', fault: { code: 'FORBIDDEN', cluster, kind, message: 'not for you', retry: 'NEVER' } };
    },
  };
}

/** Access that answers at once, and sees nothing of what this says. */
export function accessBut(isHidden: (question: AccessRequest) => boolean): Access {
  return {
    maySeeCluster: () => true,
    visibilityOf(question): Visibility {
      const { cluster, kind } = question;
      if (!isHidden(question)) return { type: 'all' };
      return { type: 'none', fault: { code: 'FORBIDDEN', cluster, kind, message: 'not for you', retry: 'NEVER' } };
    },
  };
}
