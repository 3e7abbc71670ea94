import type { Fault } from '../core/faults.ts';
import type { Json } from '../core/json.ts';
import type { ServedResource } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';
import type { KubernetesObject } from '../core/objects.ts';
import type { ObjectKey } from '../manifests/manifest.ts';
import type { WriteContext } from './write-context.ts';

/** The action of a write on one object. The enum `ObjectAction` of the GraphQL schema describes each value. */
export type ObjectAction = 'CREATED' | 'CONFIGURED' | 'UNCHANGED' | 'DELETED' | 'ORPHANED' | 'RESTORED' | 'SKIPPED' | 'FAILED';

/** The result for one object in one cluster. */
export interface ObjectChangeResult {
  readonly cluster: ClusterName;
  readonly key: ObjectKey;
  readonly action: ObjectAction;
  /**
   * The object after the write, redacted. For a dry run, the object that the write would give. Absent if the write failed or deleted the
   * object.
   */
  readonly written?: WrittenObject;
  /**
   * A unified diff of the redacted objects, without fields that the server fills in. Only a dry run has a diff, and only if it would change the
   * object.
   */
  readonly diff?: string;
  /** The uid of the object. Absent if it is unknown, and for an object that a dry run would create. */
  readonly uid?: string | undefined;
  readonly warnings: readonly string[];
  readonly fault?: Fault;
}

/** The object from the answer to a write. */
interface WrittenObject {
  readonly object: KubernetesObject;
  /** True for sensitive kinds: only the metadata may be shown. */
  readonly metadataOnly: boolean;
  readonly resource: ServedResource;
}

/** The results in the requested order: by manifest, then cluster for `apply`, and by target for the other methods. */
export interface ObjectChangesOutcome {
  /** True if no write failed. */
  readonly ok: boolean;
  readonly results: readonly ObjectChangeResult[];
}

export type ManifestInput = { readonly yaml: string } | { readonly json: Json };

export type TargetInput =
  | { readonly id: string }
  | {
      readonly ref: {
        readonly cluster: string;
        readonly apiVersion: string;
        readonly kind: string;
        readonly namespace?: string | null | undefined;
        readonly name: string;
        readonly uid?: string | null | undefined;
        readonly resourceVersion?: string | null | undefined;
      };
    };

/**
 * Changes single objects. Each object has its own result, and a failed write stops no other. Bad input is refused before the first call to
 * a cluster. Created by create-object-changes.ts.
 *
 * @throws {MusterError} Every method: `BAD_INPUT` for invalid manifests and targets, and for unknown or hidden clusters.
 */
export interface ObjectChanges {
  apply(
    context: WriteContext,
    request: {
      readonly manifests: readonly ManifestInput[];
      readonly clusters: readonly string[];
      readonly force: boolean;
      readonly dryRun: boolean;
    },
  ): Promise<ObjectChangesOutcome>;
  patch(
    context: WriteContext,
    request: {
      readonly targets: readonly TargetInput[];
      readonly type: 'JSON' | 'MERGE' | 'STRATEGIC' | 'APPLY';
      readonly patch: Json;
      readonly subresource?: string | null | undefined;
      readonly dryRun: boolean;
    },
  ): Promise<ObjectChangesOutcome>;
  delete(
    context: WriteContext,
    request: {
      readonly targets: readonly TargetInput[];
      readonly cascade: 'BACKGROUND' | 'FOREGROUND' | 'ORPHAN';
      readonly dryRun: boolean;
    },
  ): Promise<ObjectChangesOutcome>;
  scale(
    context: WriteContext,
    request: { readonly targets: readonly TargetInput[]; readonly replicas: number; readonly dryRun: boolean },
  ): Promise<ObjectChangesOutcome>;
  restart(
    context: WriteContext,
    request: { readonly targets: readonly TargetInput[]; readonly dryRun: boolean },
  ): Promise<ObjectChangesOutcome>;
}
