import type { ResourceVersion } from '../../core/names.ts';
import { compareVersions } from '../versions.ts';

/** Up to where each scope of a mirror is true: all namespaces, or single ones where the whole may not be listed. */
export interface ScopeVersions {
  /** Of the whole mirror: the version of all namespaces, else the lowest of the single ones, if that can be told. */
  readonly version: ResourceVersion | undefined;
  /** True while all namespaces are mirrored as one: only then do the versions of events have one order. */
  readonly coversAllNamespaces: boolean;
  versionOf(namespace: string | undefined): ResourceVersion | undefined;
  /** A list of the scope is whole as of this version. One of everything ends all others. */
  committed(namespace: string | undefined, version: ResourceVersion | undefined): void;
  /** An event of this version came, about an object of the namespace. Never moves back. */
  advance(namespace: string, version: ResourceVersion | undefined): void;
  clear(): void;
}

/** No scope is true yet. */
export function createScopeVersions(): ScopeVersions {
  const single = new Map<string, ResourceVersion | undefined>();
  let all: { version: ResourceVersion | undefined } | undefined;

  return {
    get version() {
      return all === undefined ? lowest([...single.values()]) : all.version;
    },
    get coversAllNamespaces() {
      return single.size === 0;
    },
    versionOf: (namespace) => (namespace === undefined ? all?.version : single.get(namespace)),
    committed(namespace, version) {
      if (namespace !== undefined) {
        single.set(namespace, version);
        return;
      }
      all = { version };
      single.clear();
    },
    advance(namespace, version) {
      if (version === undefined) return;
      if (single.has(namespace)) single.set(namespace, later(single.get(namespace), version));
      else if (all !== undefined) all.version = later(all.version, version);
    },
    clear() {
      single.clear();
      all = undefined;
    },
  };
}

function later(held: ResourceVersion | undefined, version: ResourceVersion): ResourceVersion {
  return held !== undefined && (compareVersions(version, held) ?? 0) < 0 ? held : version;
}

function lowest(versions: readonly (ResourceVersion | undefined)[]): ResourceVersion | undefined {
  let least = versions[0];
  for (const version of versions) {
    const order = version === undefined || least === undefined ? undefined : compareVersions(version, least);
    if (order === undefined) return undefined;
    if (order < 0) least = version;
  }
  return least;
}
