import type { ResourceVersion } from '../../core/names.ts';
import { compareVersions } from '../versions.ts';

/**
 * The version that each scope of a mirror has reached. The scope is all namespaces, or one of several namespaces if the kind may not be
 * listed in all.
 */
export class ScopeVersions {
  readonly #single = new Map<string, ResourceVersion | undefined>();
  #all: { version: ResourceVersion | undefined } | undefined;

  /** The version of the whole mirror. With several scopes it is their lowest version, or undefined if their versions cannot be compared. */
  get version(): ResourceVersion | undefined {
    return this.#all === undefined ? lowest([...this.#single.values()]) : this.#all.version;
  }

  /** True if no scope is a single namespace. One watch then delivers all events, so their versions have one order. */
  get coversAllNamespaces(): boolean {
    return this.#single.size === 0;
  }

  /**
   * Returns the version that one scope has reached. Undefined before its first list.
   *
   * @param namespace Undefined: the scope of all namespaces.
   */
  versionOf(namespace: string | undefined): ResourceVersion | undefined {
    return namespace === undefined ? this.#all?.version : this.#single.get(namespace);
  }

  /** Records a complete list of a scope. A list of all namespaces ends the scopes of single namespaces. */
  committed(namespace: string | undefined, version: ResourceVersion | undefined): void {
    if (namespace !== undefined) {
      this.#single.set(namespace, version);
      return;
    }
    this.#all = { version };
    this.#single.clear();
  }

  /** Records the version of an event about an object in this namespace. A lower version changes nothing. */
  advance(namespace: string, version: ResourceVersion | undefined): void {
    if (version === undefined) return;
    if (this.#single.has(namespace)) this.#single.set(namespace, later(this.#single.get(namespace), version));
    else if (this.#all !== undefined) this.#all.version = later(this.#all.version, version);
  }

  clear(): void {
    this.#single.clear();
    this.#all = undefined;
  }
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
