import type { JsonObject } from '../core/json.ts';

/** One object of a template, with `apiVersion`, `kind` and a name. `portableOf` removes the fields that a server fills in. */
export interface Manifest extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly namespace?: string };
}

/** Identifies an object in any cluster. `namespace` is absent for cluster-scoped kinds. */
export interface ObjectKey {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}
