import { createHash } from 'node:crypto';
import { apiVersionOf } from '../../core/kinds.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import type { SimHooks } from '../requests/sim-server.ts';

export const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Group {
  readonly group: string;
  readonly versions: readonly string[];
  readonly kinds: readonly SimKind[];
}

/** The kinds that discovery documents describe. */
export interface ServedKinds {
  readonly kinds: readonly SimKind[];
  readonly hooks: Pick<SimHooks, 'isUnavailable'>;
  readonly host: string;
}

/** Returns the `APIGroupDiscoveryList` of the core group, or of all other groups, with its ETag. */
export function aggregatedDiscovery(served: ServedKinds, root: 'api' | 'apis'): { readonly text: string; readonly etag: string } {
  const items = groupsOf(served, root).map(({ group, versions, kinds }) => ({
    metadata: group === '' ? {} : { name: group },
    versions: versions.map((version) => {
      // A real server keeps the last document of an aggregated API that is down, and marks it stale.
      const freshness = served.hooks.isUnavailable?.(group) ? 'Stale' : 'Current';
      const resources = kinds.filter((kind) => kind.versions.includes(version)).map((kind) => discovered(kind, version));
      return { version, resources, freshness };
    }),
  }));
  const text = JSON.stringify({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items });
  return { text, etag: `"${createHash('sha512').update(text).digest('hex').toUpperCase()}"` };
}

/** Returns the unaggregated documents: `/api`, `/apis`, `/apis/GROUP`. Undefined for a group that is not served. */
export function plainDiscovery(served: ServedKinds, root: 'api' | 'apis', group?: string): object | undefined {
  if (root === 'api') {
    const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress: served.host }];
    return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs };
  }
  const groups = groupsOf(served, 'apis');
  if (group === undefined) return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupDocument) };
  const found = groups.find((one) => one.group === group);
  return found === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(found) };
}

/** Returns the `APIResourceList` of `/api/v1` or `/apis/GROUP/VERSION`. */
export function resourceDocument(served: ServedKinds, group: string, version: string): object {
  const kinds = served.kinds.filter((kind) => kind.group === group && kind.versions.includes(version));
  const resources = kinds.flatMap((kind) => [
    {
      name: kind.resource,
      singularName: kind.singular,
      namespaced: kind.namespaced,
      kind: kind.kind,
      verbs: kind.verbs,
      ...named(kind),
    },
    ...partsOf(kind).map((part) => ({
      name: `${kind.resource}/${part}`,
      singularName: '',
      namespaced: kind.namespaced,
      ...(part === 'scale' ? scaleKind : { kind: kind.kind }),
      verbs: partVerbs,
    })),
  ]);
  const apiVersion = group === '' ? {} : { apiVersion: 'v1' };
  return { kind: 'APIResourceList', ...apiVersion, groupVersion: apiVersionOf({ group, version }), resources };
}

function discovered(kind: SimKind, version: string): object {
  // Built-in resources leave out the group of their kind.
  const responseKind =
    kind.source === 'builtIn' ? { group: '', version: '', kind: kind.kind } : { group: kind.group, version, kind: kind.kind };
  return {
    resource: kind.resource,
    responseKind,
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: kind.verbs,
    ...named(kind),
    ...(partsOf(kind).length === 0
      ? {}
      : {
          subresources: partsOf(kind).map((part) => ({
            subresource: part,
            responseKind: part === 'scale' ? scaleKind : responseKind,
            verbs: partVerbs,
          })),
        }),
  };
}

const partVerbs = ['get', 'patch', 'update'];
const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

/**
 * Returns the subresources in the order in which an API server lists them: alphabetical for built-in kinds, the reverse for custom kinds.
 */
function partsOf({ hasStatus, scale, source }: SimKind): readonly ('scale' | 'status')[] {
  const parts = [...(scale === undefined ? [] : (['scale'] as const)), ...(hasStatus ? (['status'] as const) : [])];
  return source === 'custom' ? parts.toReversed() : parts;
}

function named({ shortNames, categories }: SimKind): object {
  return { ...(shortNames.length === 0 ? {} : { shortNames }), ...(categories.length === 0 ? {} : { categories }) };
}

function groupDocument({ group, versions }: Group): object {
  const all = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: all, preferredVersion: all[0] };
}

/** Returns groups in order of their first kind, and versions in that kind's order of preference. */
function groupsOf({ kinds }: ServedKinds, root: 'api' | 'apis'): readonly Group[] {
  const groups = Map.groupBy(
    kinds.filter(({ group }) => (group === '') === (root === 'api')),
    ({ group }) => group,
  );
  return [...groups].map(([group, members]) => ({
    group,
    versions: [...new Set(members.flatMap(({ versions }) => versions))],
    kinds: members,
  }));
}
