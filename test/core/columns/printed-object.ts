import type { JsonObject } from '../../../src/core/json.ts';

/** An object to create in a cluster, with the status that its controllers would write. */
export interface PrintedObject {
  /** The path under which the object is created. */
  readonly collection: string;
  readonly object: JsonObject & { readonly metadata: JsonObject & { readonly name: string } };
  readonly status?: JsonObject;
  /** The subresource of its status. Default: `status`. */
  readonly subresource?: 'status' | 'approval';
  /** True if the object is being deleted. */
  readonly deleted?: boolean;
}

/** The namespace of all namespaced objects. */
export const place = 'printed';
