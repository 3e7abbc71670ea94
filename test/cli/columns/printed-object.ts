import type { JsonObject } from '../../../src/core/json.ts';

/** An object to be made in a cluster, and what its controllers would have said of it. */
export interface PrintedObject {
  /** Where objects of its kind are made. */
  readonly collection: string;
  readonly object: JsonObject & { readonly metadata: JsonObject & { readonly name: string } };
  readonly status?: JsonObject;
  /** Where its status is written. Default: `status`. */
  readonly subresource?: 'status' | 'approval';
  /** True while it is being deleted. */
  readonly deleted?: boolean;
}

/** The namespace that all of them are in that are in one. */
export const place = 'printed';
