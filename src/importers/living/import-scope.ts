import { type GroupKind, keyOfKind } from '../../core/kinds.ts';

/** A kind whose API group may be unknown. */
export interface ImportKind {
  readonly group?: string | undefined;
  readonly kind: string;
}

/**
 * The kinds and namespaces of an import from a cluster in which the source system, such as Karmada, is installed. An import of a text has no
 * such limits.
 */
export class ImportScope {
  /** The namespaces of the source objects. Undefined: all namespaces, and objects without a namespace. */
  readonly namespaces: readonly string[] | undefined;
  readonly #kinds: readonly GroupKind[] | undefined;

  /** Without `kinds`, all kinds are imported. Without `namespaces`, all namespaces are. */
  constructor(kinds?: readonly GroupKind[], namespaces?: readonly string[]) {
    this.#kinds = kinds;
    this.namespaces = namespaces && [...new Set(namespaces)];
  }

  /** True if all kinds are imported. */
  get hasAllKinds(): boolean {
    return this.#kinds === undefined;
  }

  /** True if propagated objects of this kind are imported. Without a group: true if objects of any kind with this name are imported. */
  includes({ group, kind }: ImportKind): boolean {
    if (this.#kinds === undefined) return true;
    return this.#kinds.some((one) => (group === undefined ? one.kind === kind : keyOfKind(one) === keyOfKind({ group, kind })));
  }
}
