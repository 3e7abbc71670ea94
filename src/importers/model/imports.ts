import type { WriteContext } from '../../changes/write-context.ts';
import type { TimeSlices } from '../../core/scheduling/operation-scheduler.ts';
import type { ImportResult } from './import-result.ts';

/** The caller of an import. The import runs in the time slices of the operation. */
export interface ImportCaller extends WriteContext {
  readonly timeSlices: TimeSlices;
}

/** Imports of other systems' manifests. They only read, and need no hub. Created by create-imports.ts. */
export interface Imports {
  /**
   * Translates a text of YAML or JSON.
   *
   * @throws {MusterError} `BAD_INPUT` with the line, if the text is no YAML or exceeds a limit of manifests. Then nothing is imported.
   */
  importManifests(caller: ImportCaller, request: { readonly yaml: string; readonly exact: boolean }): Promise<ImportResult>;
}
