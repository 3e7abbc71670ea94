import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { keyOfKind, type ServedResource } from '../core/kinds.ts';

/** One resource of one group version, as discovery reports it. */
export interface VersionedResource extends Omit<ServedResource, 'versions'> {}

/** The resources of one version of an API group. */
export interface GroupVersionResources {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly VersionedResource[];
  /** True if the API server could not reach the server of this group version. The resources are then outdated or empty. */
  readonly stale: boolean;
}

/**
 * Returns one resource per kind, at the first version that can be listed.
 *
 * @param versions The versions of each group are in the server's order of preference.
 */
export function servedResources(versions: readonly GroupVersionResources[]): ServedResource[] {
  const first = new Map<string, VersionedResource>();
  const all = new Map<string, string[]>();
  for (const resource of versions.flatMap((version) => version.resources).filter(isReadable)) {
    const key = keyOfKind(resource);
    const known = all.get(key);
    if (known === undefined) {
      first.set(key, resource);
      all.set(key, [resource.version]);
    } else if (!known.includes(resource.version)) known.push(resource.version);
  }
  return [...first].map(([key, resource]) => ({ ...resource, versions: all.get(key) ?? [resource.version] }));
}

/**
 * True for a resource that can be listed. False for subresources, which have a slash in their name, and for reviews and bindings, which can
 * only be created.
 */
function isReadable({ resource, verbs }: VersionedResource): boolean {
  return !resource.includes('/') && verbs.includes('list');
}

/** Reads an `APIGroupDiscoveryList`. Undefined if the document is not one. */
export function aggregatedVersionsIn(document: Json): GroupVersionResources[] | undefined {
  if (!isJsonObject(document) || document.kind !== 'APIGroupDiscoveryList') return undefined;
  return objectItemsIn(document.items).flatMap((item) => {
    const group = isJsonObject(item.metadata) ? textOr(item.metadata.name, '') : '';
    return objectItemsIn(item.versions).map((version) => {
      const at = { group, version: textOr(version.version, '') };
      const resources = objectItemsIn(version.resources).flatMap((resource) => aggregatedResource(resource, at));
      return { ...at, resources, stale: version.freshness === 'Stale' };
    });
  });
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

function aggregatedResource(resource: JsonObject, at: GroupVersion): VersionedResource[] {
  const kind = isJsonObject(resource.responseKind) ? textOr(resource.responseKind.kind, '') : '';
  const name = textOr(resource.resource, '');
  if (kind === '' || name === '') return [];
  return [
    {
      ...at,
      kind,
      resource: name,
      singular: textOr(resource.singularResource, ''),
      namespaced: resource.scope === 'Namespaced',
      ...listsIn(resource),
    },
  ];
}

/** Reads an `APIResourceList`. Servers before 1.26 have one per group version. */
export function resourcesIn(document: Json, at: GroupVersion): VersionedResource[] {
  const resources = isJsonObject(document) ? objectItemsIn(document.resources) : [];
  return resources.flatMap((resource) => {
    const kind = textOr(resource.kind, '');
    const name = textOr(resource.name, '');
    if (kind === '' || name === '') return [];
    return [
      {
        ...at,
        kind,
        resource: name,
        singular: textOr(resource.singularName, ''),
        namespaced: resource.namespaced === true,
        ...listsIn(resource),
      },
    ];
  });
}

function listsIn(resource: JsonObject): Pick<VersionedResource, 'verbs' | 'shortNames' | 'categories'> {
  return { verbs: textItemsIn(resource.verbs), shortNames: textItemsIn(resource.shortNames), categories: textItemsIn(resource.categories) };
}

/** Returns the items of a list that are objects. Empty if the value is not a list. */
export function objectItemsIn(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? (list as readonly Json[]).filter(isJsonObject) : [];
}

/** Returns the items of a list that are text. Empty if the value is not a list. */
export function textItemsIn(list: Json | undefined): readonly string[] {
  return Array.isArray(list) ? (list as readonly Json[]).filter((item) => typeof item === 'string') : [];
}

/** Returns the value if it is text, else `otherwise`. */
export function textOr(value: Json | undefined, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}
