import type { Fault } from '../core/faults.ts';
import type { Json } from '../core/json.ts';
import type { ServedResource } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';
import type { KubernetesObject } from '../core/objects.ts';
import type { Manifest, ObjectKey } from '../manifests/manifest.ts';

/** The name of Muster's field manager, which also names its entries in `managedFields`. */
export const fieldManager = 'muster';

/**
 * How a deletion treats the objects that the deleted object owns, as with kubectl's `--cascade`: they are deleted afterwards
 * (`Background`), before it (`Foreground`), or not at all (`Orphan`).
 */
export type Cascade = 'Background' | 'Foreground' | 'Orphan';

/** Identifies an object by the resource that the cluster serves for its kind. */
export interface ObjectAddress {
  /** The resource of the kind. Its `version` is used in the path and must be that of the request body. */
  readonly resource: ServedResource;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** The result of one call. Calls throw only on bugs. */
export type ObjectCallResult =
  /** `isNew`: true if the write created the object (status 201). `warnings`: the texts of the `Warning` headers. */
  | { readonly result: 'answered'; readonly object: KubernetesObject; readonly isNew: boolean; readonly warnings: readonly string[] }
  | { readonly result: 'absent' }
  /** `fault.status` is the Status of the server. An apply with wrong types gives `INVALID` (docs/internals/propagation.md 5.1). */
  | { readonly result: 'failed'; readonly fault: Fault };

/**
 * The conditions of a write: the existing object must have this uid and this resourceVersion. If one of them differs, the API server
 * answers 409 or 422. An absent member is not checked.
 */
export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/**
 * `real` writes the object. `dry` writes nothing: the API server checks the request with `fieldValidation=Strict` and returns the result.
 */
export type RunMode = 'real' | 'dry';

/** The options of every write. */
export interface ObjectWriteOptions {
  readonly run: RunMode;
  /**
   * Called right before the write is sent, after its wait in the queue. If it returns false, the write is not sent and the result is a
   * `TIMED_OUT` fault. Default: every write is sent.
   */
  readonly mayWrite?: () => boolean;
}

/** A server-side apply with the field manager `muster`. */
export interface ApplyObjectRequest extends ObjectAddress, ObjectWriteOptions {
  readonly manifest: Manifest;
  /**
   * The conditions of the apply. With `resourceVersion: '1'`, the apply can only create: for an existing object, the API server answers
   * 409.
   */
  readonly preconditions: Preconditions;
  readonly force: boolean;
}

interface ReplaceObjectRequest extends ObjectAddress, ObjectWriteOptions {
  readonly object: KubernetesObject;
}

export interface PatchObjectRequest extends ObjectAddress, ObjectWriteOptions {
  readonly type: 'json' | 'merge' | 'strategic' | 'apply';
  readonly patch: Json;
  readonly subresource?: string | undefined;
  readonly force?: boolean;
}

export interface DeleteObjectRequest extends ObjectAddress, ObjectWriteOptions {
  readonly preconditions: Preconditions;
  readonly cascade: Cascade;
}

/** An action to check with a SelfSubjectAccessReview of the API server. */
export interface AccessReview {
  readonly resource: ServedResource;
  readonly namespace?: string | undefined;
  readonly verb: 'get' | 'create' | 'update' | 'patch' | 'delete';
}

/**
 * Reads and writes objects of one API server, with one identity and one call each. A call without an answer ends after 10 s with
 * `TIMED_OUT`. Created by create-object-client.ts.
 */
export interface ObjectClient {
  readonly cluster: ClusterName;
  get(address: ObjectAddress, signal: AbortSignal): Promise<ObjectCallResult>;
  apply(request: ApplyObjectRequest, signal: AbortSignal): Promise<ObjectCallResult>;
  /** Replaces the object (PUT). If `object` has a resourceVersion and the existing object has another one, the API server answers 409. */
  replace(request: ReplaceObjectRequest, signal: AbortSignal): Promise<ObjectCallResult>;
  patch(request: PatchObjectRequest, signal: AbortSignal): Promise<ObjectCallResult>;
  /**
   * Deletes the object. `absent`: it did not exist. `answered`: it is deleted, or has a `deletionTimestamp` and waits for its finalizers.
   */
  delete(request: DeleteObjectRequest, signal: AbortSignal): Promise<ObjectCallResult>;
  /** Checks with a live discovery call whether the API server serves the kind in that version. */
  serves(kind: Pick<ObjectKey, 'apiVersion' | 'kind'>, signal: AbortSignal): Promise<boolean | { readonly fault: Fault }>;
  may(review: AccessReview, signal: AbortSignal): Promise<boolean | { readonly fault: Fault }>;
}
