import type { WriteContext } from '../../changes/write-context.ts';
import type { GroupKind } from '../../core/kinds.ts';
import type { TimeSlices } from '../../core/scheduling/operation-scheduler.ts';
import type { ImportResult } from './import-result.ts';

/** The caller of an import. The import runs in the time slices of the operation. */
export interface ImportCaller extends WriteContext {
  readonly timeSlices: TimeSlices;
}

/** A request to import the objects of other systems in a cluster. */
export interface ClusterImportRequest {
  readonly cluster: string;
  /** The kinds of the propagated objects. Default: all kinds. */
  readonly kinds?: readonly GroupKind[] | undefined;
  /** The namespaces of the source objects. Default: all namespaces, and objects without a namespace. */
  readonly namespaces?: readonly string[] | undefined;
  readonly exact: boolean;
}

/** Translates manifests of other systems to Propagations. Only reads, and needs no hub. Created by create-imports.ts. */
export interface Imports {
  /**
   * Translates a text of YAML or JSON.
   *
   * @throws {MusterError} `BAD_INPUT` with the line, if the text is no YAML or exceeds a limit of manifests. `TOO_COSTLY` if the Propagations
   * have more than 64 MiB together. Then nothing is imported.
   */
  importManifests(caller: ImportCaller, request: { readonly yaml: string; readonly exact: boolean }): Promise<ImportResult>;
  /**
   * Translates the objects of other systems in a cluster. The Propagations adopt the copies that these systems wrote.
   *
   * @throws {MusterError} `BAD_INPUT` if the cluster is unknown or hidden from the caller. `TOO_COSTLY` if the Propagations have more than
   * 64 MiB together.
   */
  importFromCluster(caller: ImportCaller, request: ClusterImportRequest): Promise<ImportResult>;
}
