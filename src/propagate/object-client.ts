import type { Fault } from '../core/faults.ts';
import type { Json } from '../core/json.ts';
import type { ServedResource } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';
import type { KubernetesObject } from '../core/objects.ts';
import type { Cascade, Manifest, ObjectKey } from './spec.ts';

/** Our field manager, and the name of our entry in `managedFields`. */
export const fieldManager = 'muster';

/** Which object, as the cluster serves its kind. */
export interface ObjectAddress {
  /** Its `version` is the one that is written in. */
  readonly resource: ServedResource;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** What one call came to. Nothing is thrown but a bug. */
export type ObjectAnswer =
  /** `isNew`: 201. `warnings`: the texts of `Warning` headers. */
  | { readonly result: 'answered'; readonly object: KubernetesObject; readonly isNew: boolean; readonly warnings: readonly string[] }
  | { readonly result: 'absent' }
  /** `fault.status` is the server's own; of an apply that could not be typed `INVALID` (docs/internals/propagation.md 5.1). */
  | { readonly result: 'failed'; readonly fault: Fault };

/** Only an object with this uid and version is written; 409 or 422 otherwise. */
export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** Nothing is written, all is checked, with `fieldValidation=Strict`. */
export type Run = 'real' | 'dry';

/** How any write is sent. */
export interface WriteTerms {
  readonly run: Run;
  /** Asked right before it is sent, when its turn has come: a write that may not be any more is not sent, and told as `TIMED_OUT`. */
  readonly mayWrite?: () => boolean;
}

/** Server-side apply as `muster`. */
export interface ApplyRequest extends ObjectAddress, WriteTerms {
  readonly manifest: Manifest;
  /** `resourceVersion: '1'` creates or answers 409 and never touches what is there. */
  readonly preconditions: Preconditions;
  readonly force: boolean;
}

interface ReplaceRequest extends ObjectAddress, WriteTerms {
  readonly object: KubernetesObject;
}

export interface PatchRequest extends ObjectAddress, WriteTerms {
  readonly type: 'json' | 'merge' | 'strategic' | 'apply';
  readonly patch: Json;
  readonly subresource?: string | undefined;
  readonly force?: boolean;
}

export interface DeleteRequest extends ObjectAddress, WriteTerms {
  readonly preconditions: Preconditions;
  readonly cascade: Cascade;
}

/** Whether the identity may do it, as the API server says (SelfSubjectAccessReview). */
export interface AccessReview {
  readonly resource: ServedResource;
  readonly namespace?: string | undefined;
  readonly verb: 'get' | 'create' | 'update' | 'patch' | 'delete';
}

/** The objects of one API server, one call each, as one identity. Each ends by itself after 10 s with `TIMED_OUT`. */
export interface ObjectClient {
  readonly cluster: ClusterName;
  get(address: ObjectAddress, signal: AbortSignal): Promise<ObjectAnswer>;
  apply(request: ApplyRequest, signal: AbortSignal): Promise<ObjectAnswer>;
  /** PUT: guarded by the resourceVersion in the object. */
  replace(request: ReplaceRequest, signal: AbortSignal): Promise<ObjectAnswer>;
  patch(request: PatchRequest, signal: AbortSignal): Promise<ObjectAnswer>;
  /** `absent`: there was none. `answered`: it goes; with finalizers it is still there, with a `deletionTimestamp`. */
  delete(request: DeleteRequest, signal: AbortSignal): Promise<ObjectAnswer>;
  /** Whether the API server serves the kind in that version, as its discovery says live. */
  serves(kind: Pick<ObjectKey, 'apiVersion' | 'kind'>, signal: AbortSignal): Promise<boolean | { readonly fault: Fault }>;
  may(review: AccessReview, signal: AbortSignal): Promise<boolean | { readonly fault: Fault }>;
}
