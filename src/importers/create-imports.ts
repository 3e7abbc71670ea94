import type { Caller } from '../access/access.ts';
import type { MemberCluster } from '../changes/members.ts';
import type { ClusterName } from '../core/names.ts';
import { importText } from './import-documents.ts';
import type { Imports } from './model/imports.ts';

/** The parts of the gateway that imports use. */
export interface ImportsPorts {
  /** Returns the clusters that the caller may see, sorted by name. */
  readonly visibleClusters: (caller: Caller) => readonly MemberCluster[];
  /** The cluster that keeps Propagations. Absent: there is no hub. */
  readonly hub?: ClusterName;
}

/** Creates the imports of a gateway. They have no state. */
export function createImports({ visibleClusters, hub }: ImportsPorts): Imports {
  return {
    importManifests: async ({ caller, timeSlices }, { yaml, exact }) =>
      timeSlices.run(importText(yaml, { isExact: exact, clusters: visibleClusters(caller), ...(hub === undefined ? {} : { hub }) })),
  };
}
