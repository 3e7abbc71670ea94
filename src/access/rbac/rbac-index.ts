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
  readonly name: string;
  /** The key of the role: its namespace, `/` and its name. */
  readonly role: string;
  readonly subjects: readonly SubjectKey[];
}

/** A rule that holds for a subject, and the namespace in which it holds. `''`: all namespaces. */
export interface GrantedRule {
  readonly namespace: string;
  readonly rule: PolicyRule;
}

/** A rule that allows an access, and the binding through which a subject has it. */
export interface NamedGrant {
  /** The binding, such as `RoleBinding shop/devs`. */
  readonly binding: string;
  /** The namespace of the binding. `''`: all namespaces. */
  readonly namespace: string;
  readonly subject: SubjectKey;
  /** The role, such as `ClusterRole view`. */
  readonly role: string;
  readonly rule: PolicyRule;
}

const noRules: readonly PolicyRule[] = [];

/** Maximum number of bindings that `grantsToAnyone` looks at. */
const maxBindingsRead = 10_000;

/**
 * The Roles, ClusterRoles and bindings of one cluster, by subject. Its answers are those of RBAC alone. By default the API server decides, and
 * the index only proposes (`AccessMember.authorization`).
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
    const binding: Binding = { namespace, name, role: roleOf(object), subjects: subjectKeysIn(object) };
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

  /** Returns the namespaces in which a RoleBinding allows this access to one of these subjects, each once. */
  namespacesAllowing(subjects: readonly SubjectKey[], attributes: ResourceAttributes): ReadonlySet<string> {
    const found = new Set<string>();
    for (const { namespace, role } of this.#bindingsOf(subjects)) {
      if (namespace === '' || found.has(namespace)) continue;
      if ((this.#roles.get(role) ?? noRules).some((rule) => isAllowedByRule(rule, attributes))) found.add(namespace);
    }
    return found;
  }

  /** Yields the rules that hold for these subjects. Rules for all namespaces come first. */
  *rulesOf(subjects: readonly SubjectKey[]): Iterable<GrantedRule> {
    const bindings = [...this.#bindingsOf(subjects)].sort((a, b) => Number(a.namespace !== '') - Number(b.namespace !== ''));
    for (const { namespace, role } of bindings) for (const rule of this.#roles.get(role) ?? noRules) yield { namespace, rule };
  }

  /** True if RBAC allows this access to one of these subjects. */
  allows(subjects: readonly SubjectKey[], attributes: ResourceAttributes): boolean {
    if (subjects.includes('g:system:masters')) return true;
    for (const binding of this.#bindingsOf(subjects)) if (this.#allowingRule(binding, attributes) !== undefined) return true;
    return false;
  }

  /** Yields the grants that allow this access to one of these subjects. */
  *grantsTo(subjects: readonly SubjectKey[], attributes: ResourceAttributes): Iterable<NamedGrant> {
    for (const subject of subjects)
      for (const binding of this.#bySubject.get(subject) ?? []) {
        const rule = this.#allowingRule(binding, attributes);
        if (rule !== undefined) yield namedGrant(binding, subject, rule);
      }
  }

  /** Yields the grants that allow this access to any subject. Looks at 10,000 bindings at most. */
  *grantsToAnyone(attributes: ResourceAttributes): Iterable<NamedGrant> {
    let left = maxBindingsRead;
    for (const [role, rules] of this.#roles) {
      if (!rules.some((rule) => isAllowedByRule(rule, attributes))) continue;
      for (const binding of this.#byRole.get(role) ?? []) {
        left -= 1;
        if (left < 0) return;
        const rule = this.#allowingRule(binding, attributes);
        if (rule !== undefined) for (const subject of binding.subjects) yield namedGrant(binding, subject, rule);
      }
    }
  }

  /** Returns the roles of these subjects, such as `ClusterRole view in shop`. With a namespace, only the roles that hold in it. */
  rolesOf(subjects: readonly SubjectKey[], namespace: string | undefined): readonly string[] {
    const bindings = [...this.#bindingsOf(subjects)].filter(
      (one) => one.namespace === '' || (namespace ?? one.namespace) === one.namespace,
    );
    const texts = bindings.map((one) => `${roleText(one)}${one.namespace === '' ? '' : ` in ${one.namespace}`}`);
    return [...new Set(texts)].sort();
  }

  #allowingRule({ namespace, role }: Binding, attributes: ResourceAttributes): PolicyRule | undefined {
    if (namespace !== '' && namespace !== attributes.namespace) return undefined;
    return (this.#roles.get(role) ?? noRules).find((rule) => isAllowedByRule(rule, attributes));
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

function namedGrant(binding: Binding, subject: SubjectKey, rule: PolicyRule): NamedGrant {
  const { namespace, name } = binding;
  const text = namespace === '' ? `ClusterRoleBinding ${name}` : `RoleBinding ${namespace}/${name}`;
  return { binding: text, namespace, subject, role: roleText(binding), rule };
}

/** Returns the role of a binding for people, such as `ClusterRole view` or `Role shop/reader`. */
function roleText({ role }: Binding): string {
  return role.startsWith('/') ? `ClusterRole ${role.slice(1)}` : `Role ${role}`;
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
