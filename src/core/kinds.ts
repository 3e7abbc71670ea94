/** A kind of object, in any version. The core group is `''`. */
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** Returns the key of a kind: `Pod`, `Deployment.apps`, `Certificate.cert-manager.io`. Equal kinds have equal keys. Messages show it. */
export function keyOfKind({ group, kind }: GroupKind): string {
  return group === '' ? kind : `${kind}.${group}`;
}

const kindsOfLists = new WeakMap<readonly ServedResource[], ReadonlyMap<string, ServedResource>>();

/** Returns the kinds of a list by `keyOfKind`. Each list is read once, because hundreds of clusters may share one. */
export function kindsByKey(resources: readonly ServedResource[]): ReadonlyMap<string, ServedResource> {
  const known = kindsOfLists.get(resources);
  if (known !== undefined) return known;
  const kinds = new Map(resources.map((resource) => [keyOfKind(resource), resource]));
  kindsOfLists.set(resources, kinds);
  return kinds;
}

/** Returns the `apiVersion` of objects: `v1`, `apps/v1`. */
export function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Returns the group of an `apiVersion`. `''` is the core group. */
export function groupOfApiVersion(apiVersion: string): string {
  return apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));
}

/** Returns the version of an `apiVersion`, without its group. */
export function versionOfApiVersion(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1);
}

/** One kind as one cluster serves it, at the version that Muster reads. */
export interface ServedResource extends GroupKind {
  /** The version to read: the first one in the server's order of preference that serves the kind. */
  readonly version: string;
  /** All versions that serve the kind, in the server's order of preference. */
  readonly versions: readonly string[];
  /** The last segment of the path, such as `pods`. */
  readonly resource: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

const unknownKindBegins = 'no kind ';

/** Returns the message of the `BAD_INPUT` for a name that means no kind. */
export function unknownKindMessage(name: string, meant: string | undefined): string {
  return `${unknownKindBegins}${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

/** True if `unknownKindMessage` made the message. Nothing else in the error says that a kind is unknown. */
export function isUnknownKindMessage(message: string): boolean {
  return message.startsWith(unknownKindBegins);
}
