import type { Access, Caller } from '../access/access.ts';
import type { CallerOperation } from '../access/caller-api.ts';
import { visibleCluster } from '../changes/change-targets.ts';
import type { Members } from '../changes/members.ts';
import type { ClusterApi } from '../cluster/cluster-api.ts';
import { MusterError } from '../core/errors.ts';
import type { ClusterName } from '../core/names.ts';
import type { SensitiveKinds } from '../core/sensitive-kinds.ts';
import type { PropagationLookup } from '../propagate/model/propagations.ts';
import { importFromCluster, withStopNotes } from './living/import-from-cluster.ts';
import type { ImportResult } from './model/import-result.ts';
import type { ImportCaller, Imports } from './model/imports.ts';
import { importText } from './translation/import-documents.ts';
import { withMissingNamespaces } from './translation/missing-namespaces.ts';
import { withTakenNames } from './translation/taken-names.ts';

/** The parts of the gateway that imports use. */
export interface ImportsPorts {
  readonly members: Pick<Members, 'all' | 'get'>;
  readonly access: Access;
  /** Returns the API of a cluster, with the rights of the caller. Undefined if the cluster is not in the fleet. */
  readonly apiOf: (cluster: ClusterName, operation: CallerOperation) => ClusterApi | undefined;
  readonly sensitiveKinds: SensitiveKinds;
  /** The cluster that keeps Propagations, and the lookup of those that exist, with the rights of the caller. Absent if there is no hub. */
  readonly hub?: {
    readonly cluster: ClusterName;
    readonly lookUp: (context: ImportCaller) => Promise<PropagationLookup>;
    /** True: the leader keeps a Propagation in sync with each MultiClusterResource of the hub. */
    readonly keepsResources: boolean;
  };
}

/** Creates the imports of a gateway. They have no state. */
export function createImports({ members, access, apiOf, sensitiveKinds, hub }: ImportsPorts): Imports {
  const contextFor = (caller: Caller) => ({
    clusters: members.all().filter(({ name }) => access.maySeeCluster(caller, name)),
    ...(hub === undefined ? {} : { hub: hub.cluster }),
  });
  /**
   * Compares the result with the hub (`withTakenNames`), and adds the note `NO_NAMESPACE` for each namespace that the hub does not have. If the
   * existing Propagations cannot be read, adds a fault and no notes.
   */
  const checkHub = async (context: ImportCaller, result: ImportResult): Promise<ImportResult> => {
    if (hub === undefined || result.propagations.length === 0) return result;
    const existing = await hub.lookUp(context);
    if (existing.result === 'unread') return { ...result, faults: [...result.faults, existing.fault] };
    const named = withTakenNames(result, { find: existing.find, keptFrom: hub.keepsResources ? hub.cluster : undefined });
    const api = apiOf(hub.cluster, context);
    return api === undefined ? named : await withMissingNamespaces(named, api, context.signal);
  };
  return {
    async importManifests(context, { yaml, exact }) {
      const { caller, timeSlices } = context;
      return await checkHub(context, await timeSlices.run(importText(yaml, { ...contextFor(caller), isExact: exact })));
    },
    async importFromCluster(context, request) {
      const { caller } = context;
      const cluster = visibleCluster(request.cluster, { members, access, caller });
      const member = members.get(cluster);
      if (member?.phase === 'UNREACHABLE' && member.faults.length > 0)
        return { propagations: [], unread: [], notes: [], faults: member.faults };
      const api = apiOf(cluster, context);
      if (api === undefined) throw new MusterError('BAD_INPUT', `cluster ${cluster} has left the fleet`);
      const result = await importFromCluster(context, request, { api, sensitiveKinds, context: contextFor(caller) });
      return withStopNotes(await checkHub(context, result), cluster);
    },
  };
}
