import type { V1RoleBinding } from '@kubernetes/client-node';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Stored } from '../../core/stored.ts';
import { isAllowedByRule, type PolicyRule, policyRulesOf, type ResourceAttributes } from './policy-rules.ts';
import { type SubjectKey, subjectKeysIn } from './subjects.ts';

/** The kinds of RBAC objects. */
export type RbacKind = 'Role' | 'ClusterRole' | 'RoleBinding' | 'ClusterRoleBinding';

/** A binding: who has which role, and in which namespace. */
interface Binding {
  /** `''`: in all namespaces. */
  readonly namespace: string;
  /** The key of the role: its namespace, `/` and its name. */
  readonly role: string;
  readonly subjects: readonly SubjectKey[];
}

/** A rule that a subject has, and the namespace in which it has it. `''`: all namespaces. */
export interface GrantedRule {
  readonly namespace: string;
  readonly rule: PolicyRule;
}

const noRules: readonly PolicyRule[] = [];

/**
 * The Roles, ClusterRoles and bindings of one cluster, by subject. It proposes what a user may do; the API server decides.
 *
 * Memory grows with the bindings and rules. Objects are not kept.
 */
export class RbacIndex {
  readonly #roles = new Map<string, readonly PolicyRule[]>();
  readonly #bindings = new Map<string, Binding>();
  readonly #bySubject = new Map<SubjectKey, Set<Binding>>();
  readonly #byRole = new Map<string, Set<Binding>>();

  /** Adds or replaces an object. Returns the subjects whose rights may have changed: none if only the metadata of the object has changed. */
  put(kind: RbacKind, object: KubernetesObject): readonly SubjectKey[] {
    const { namespace = '', name } = object.metadata;
    const key = keyIn(namespace, name);
    if (isRole(kind)) return this.#putRole(key, policyRulesOf(object));
    const binding: Binding = { namespace, role: roleOf(object), subjects: subjectKeysIn(object) };
    if (isEqual(this.#bindings.get(key), binding)) return [];
    const before = this.#removeBinding(key);
    this.#bindings.set(key, binding);
    for (const subject of binding.subjects) setOf(this.#bySubject, subject).add(binding);
    setOf(this.#byRole, binding.role).add(binding);
    return [...before, ...binding.subjects];
  }

  /** Removes an object. Returns the subjects whose rights may have changed. */
  remove(kind: RbacKind, namespace: string, name: string): readonly SubjectKey[] {
    const key = keyIn(namespace, name);
    if (!isRole(kind)) return this.#removeBinding(key);
    this.#roles.delete(key);
    return this.#holdersOf(key);
  }

  /** Returns the namespaces in which one of these subjects is bound by a RoleBinding, each once. */
  namespacesOf(subjects: readonly SubjectKey[]): ReadonlySet<string> {
    const found = new Set<string>();
    for (const { namespace } of this.#bindingsOf(subjects)) if (namespace !== '') found.add(namespace);
    return found;
  }

  /** Yields the rules of these subjects: first those for all namespaces. */
  *rulesOf(subjects: readonly SubjectKey[]): Iterable<GrantedRule> {
    const bindings = [...this.#bindingsOf(subjects)].sort((a, b) => Number(a.namespace !== '') - Number(b.namespace !== ''));
    for (const { namespace, role } of bindings) for (const rule of this.#roles.get(role) ?? noRules) yield { namespace, rule };
  }

  /** True if RBAC allows this access to one of these subjects. */
  allows(subjects: readonly SubjectKey[], asked: ResourceAttributes): boolean {
    if (subjects.includes('g:system:masters')) return true;
    for (const { namespace, role } of this.#bindingsOf(subjects)) {
      if (namespace !== '' && namespace !== asked.namespace) continue;
      if ((this.#roles.get(role) ?? noRules).some((rule) => isAllowedByRule(rule, asked))) return true;
    }
    return false;
  }

  #putRole(key: string, rules: readonly PolicyRule[]): readonly SubjectKey[] {
    if (isEqual(this.#roles.get(key), rules)) return [];
    this.#roles.set(key, rules);
    return this.#holdersOf(key);
  }

  *#bindingsOf(subjects: readonly SubjectKey[]): Iterable<Binding> {
    for (const subject of subjects) yield* this.#bySubject.get(subject) ?? [];
  }

  #holdersOf(role: string): readonly SubjectKey[] {
    return [...(this.#byRole.get(role) ?? [])].flatMap(({ subjects }) => subjects);
  }

  #removeBinding(key: string): readonly SubjectKey[] {
    const binding = this.#bindings.get(key);
    if (binding === undefined) return [];
    this.#bindings.delete(key);
    for (const subject of binding.subjects) removeFrom(this.#bySubject, subject, binding);
    removeFrom(this.#byRole, binding.role, binding);
    return binding.subjects;
  }
}

function isEqual(before: Binding | readonly PolicyRule[] | undefined, now: Binding | readonly PolicyRule[]): boolean {
  return before !== undefined && JSON.stringify(before) === JSON.stringify(now);
}

function isRole(kind: RbacKind): boolean {
  return kind === 'Role' || kind === 'ClusterRole';
}

function keyIn(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** Returns the key of the role of a binding. A RoleBinding may name a ClusterRole, which then holds in the namespace of the binding. */
function roleOf(binding: KubernetesObject): string {
  const { roleRef, metadata }: KubernetesObject & Stored<V1RoleBinding> = binding;
  return keyIn(roleRef?.kind === 'Role' ? (metadata.namespace ?? '') : '', roleRef?.name ?? '');
}

function setOf<Key, Value>(map: Map<Key, Set<Value>>, key: Key): Set<Value> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = new Set<Value>();
  map.set(key, made);
  return made;
}

function removeFrom<Key, Value>(map: Map<Key, Set<Value>>, key: Key, value: Value): void {
  const values = map.get(key);
  values?.delete(value);
  if (values?.size === 0) map.delete(key);
}
