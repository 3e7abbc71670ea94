import type { GroupKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { MemberChange, MemberObjects } from '../../store/member-objects.ts';
import { RbacIndex, type RbacKind } from './rbac-index.ts';
import type { SubjectKey } from './subjects.ts';

const rbacGroup = 'rbac.authorization.k8s.io';

/** Roles come first, so that the rules are known when a binding is added. */
const rbacKinds: readonly RbacKind[] = ['ClusterRole', 'Role', 'ClusterRoleBinding', 'RoleBinding'];

interface ClusterRbacOptions {
  readonly cluster: ClusterName;
  readonly objects: MemberObjects;
  /** Called after the rights of these subjects may have changed. `all`: of every subject. */
  readonly onChange: (subjects: readonly SubjectKey[] | 'all') => void;
}

/**
 * The RBAC objects of one cluster, as its mirrors have them. Keeps these mirrors running until the signal aborts. The owner calls `changed`
 * for each change of the cluster.
 */
export class ClusterRbac {
  readonly index = new RbacIndex();
  readonly #options: ClusterRbacOptions;
  /** The objects of the index, by kind and then by `NAMESPACE/NAME`. A kind is missing while its mirror cannot be read. */
  readonly #known = new Map<RbacKind, Map<string, KubernetesObject>>();

  constructor(options: ClusterRbacOptions, signal: AbortSignal) {
    this.#options = options;
    for (const kind of rbacKinds) options.objects.hold(options.cluster, groupKindOf(kind), signal);
    for (const kind of rbacKinds) this.#refresh(kind);
  }

  /** True if all four kinds are mirrored, so that a subject without a binding in the index has none. */
  get isComplete(): boolean {
    return this.#known.size === rbacKinds.length;
  }

  /** Handles a change of the cluster. Changes of other kinds are ignored. */
  changed(change: MemberChange): void {
    switch (change.type) {
      case 'cluster':
        for (const kind of rbacKinds) if (!this.#known.has(kind)) this.#refresh(kind);
        break;
      case 'mirror': {
        const kind = rbacKindOf(change.kind);
        if (kind !== undefined) this.#refresh(kind);
        break;
      }
      case 'object': {
        const kind = rbacKindOf(change.kind);
        if (kind !== undefined) this.#refreshObject(kind, change.objectName);
        break;
      }
      default:
        change satisfies never;
    }
  }

  /**
   * Reads all objects of a kind, updates the index, and reports the subjects whose rights may have changed. If the mirror cannot be read, the
   * index loses all objects of the kind.
   */
  #refresh(kind: RbacKind): void {
    const { cluster, objects, onChange } = this.#options;
    const all = objects.all(cluster, groupKindOf(kind));
    const known = this.#known.get(kind);
    if (all === undefined) {
      if (known === undefined) return;
      for (const { metadata } of known.values()) this.index.remove(kind, metadata.namespace ?? '', metadata.name);
      this.#known.delete(kind);
      onChange('all');
      return;
    }
    const now = new Map(all.map((object) => [keyOf(object.metadata.namespace ?? '', object.metadata.name), object]));
    this.#known.set(kind, now);
    const removed = [...(known ?? [])].filter(([key]) => !now.has(key)).map(([, object]) => object);
    const touched = removed.flatMap(({ metadata }) => this.index.remove(kind, metadata.namespace ?? '', metadata.name));
    for (const [key, object] of now) if (known?.get(key) !== object) touched.push(...this.index.put(kind, object));
    if (known === undefined) onChange('all');
    else if (touched.length > 0) onChange(touched);
  }

  #refreshObject(kind: RbacKind, { namespace, name }: { readonly namespace: string; readonly name: string }): void {
    const { cluster, objects, onChange } = this.#options;
    const known = this.#known.get(kind);
    if (known === undefined) return;
    const key = keyOf(namespace, name);
    const found = objects.read(cluster, groupKindOf(kind), { namespace, name });
    if (found.result === 'unread') return;
    const object = found.result === 'held' ? found.object : undefined;
    if (known.get(key) === object) return;
    if (object === undefined) known.delete(key);
    else known.set(key, object);
    const touched = object === undefined ? this.index.remove(kind, namespace, name) : this.index.put(kind, object);
    if (touched.length > 0) onChange(touched);
  }
}

function groupKindOf(kind: RbacKind): GroupKind {
  return { group: rbacGroup, kind };
}

function rbacKindOf({ group, kind }: GroupKind): RbacKind | undefined {
  return group === rbacGroup ? rbacKinds.find((one) => one === kind) : undefined;
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
