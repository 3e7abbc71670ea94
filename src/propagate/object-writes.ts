import type { Fault } from '../core/faults.ts';
import type { Json } from '../core/json.ts';
import type { ServedResource } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';
import type { KubernetesObject } from '../core/objects.ts';
import type { WriteContext } from './propagations.ts';
import type { ObjectKey } from './spec.ts';

/** What came of one write, equal to the schema's `Action`. */
export type Action = 'CREATED' | 'CONFIGURED' | 'UNCHANGED' | 'DELETED' | 'ORPHANED' | 'RESTORED' | 'SKIPPED' | 'FAILED';

/** One object in one cluster. */
export interface WriteResult {
  readonly cluster: ClusterName;
  readonly key: ObjectKey;
  readonly action: Action;
  /** As written, redacted; with a dry run as it would be. Absent if it failed or is gone. */
  readonly written?: WrittenObject;
  /** Of a dry run only: unified, pruned, redacted. */
  readonly diff?: string;
  readonly warnings: readonly string[];
  readonly fault?: Fault;
}

/** An object as the answer to its write had it. */
interface WrittenObject {
  readonly object: KubernetesObject;
  /** Of a sensitive kind nothing else may be told. */
  readonly metadataOnly: boolean;
  readonly resource: ServedResource;
}

/** In the order asked: by manifest then cluster (apply), by target. */
export interface WriteOutcome {
  /** None failed. */
  readonly ok: boolean;
  readonly results: readonly WriteResult[];
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
 * Changes of single objects, each with an outcome of its own: one that fails stops no other. Bad input is refused before any cluster is touched.
 *
 * @throws {MusterError} every method: `BAD_INPUT` for manifests and targets that cannot be served, unknown and hidden clusters among them.
 */
export interface ObjectWrites {
  apply(
    context: WriteContext,
    asked: {
      readonly manifests: readonly ManifestInput[];
      readonly clusters: readonly string[];
      readonly force: boolean;
      readonly dryRun: boolean;
    },
  ): Promise<WriteOutcome>;
  patch(
    context: WriteContext,
    asked: {
      readonly targets: readonly TargetInput[];
      readonly type: 'JSON' | 'MERGE' | 'STRATEGIC' | 'APPLY';
      readonly patch: Json;
      readonly subresource?: string | null | undefined;
      readonly dryRun: boolean;
    },
  ): Promise<WriteOutcome>;
  delete(
    context: WriteContext,
    asked: {
      readonly targets: readonly TargetInput[];
      readonly cascade: 'BACKGROUND' | 'FOREGROUND' | 'ORPHAN';
      readonly dryRun: boolean;
    },
  ): Promise<WriteOutcome>;
  scale(
    context: WriteContext,
    asked: { readonly targets: readonly TargetInput[]; readonly replicas: number; readonly dryRun: boolean },
  ): Promise<WriteOutcome>;
  restart(context: WriteContext, asked: { readonly targets: readonly TargetInput[]; readonly dryRun: boolean }): Promise<WriteOutcome>;
}
