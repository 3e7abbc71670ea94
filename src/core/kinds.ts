/** A kind of object whatever version it is served in. The core group is `''`. */
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** `Pod`, `Deployment.apps`, `Certificate.cert-manager.io`: equal for equal kinds, and what people read in messages. */
export function keyOfKind({ group, kind }: GroupKind): string {
  return group === '' ? kind : `${kind}.${group}`;
}

/** `v1`, `apps/v1`: the `apiVersion` of objects. */
export function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The group in an `apiVersion`. `''` is the core group. */
export function groupOfApiVersion(apiVersion: string): string {
  return apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));
}

/** The version in an `apiVersion`, without its group. */
export function versionOfApiVersion(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1);
}

/** How one cluster serves one kind, at the version Muster reads it in: what discovery says. */
export interface ServedResource extends GroupKind {
  /** The version that is read: the server's preferred one that serves the kind. */
  readonly version: string;
  /** All versions that serve the kind, the server's preferred one first. */
  readonly versions: readonly string[];
  /** The last segment of the path: `pods`. */
  readonly resource: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}
