import type { RequestedResource } from '../../../src/sim/kinds/embedded-cluster.ts';
import type { RequestTarget } from '../../../src/sim/requests/request-target.ts';
import type { SimScope } from './misbehaviours.ts';

/** What misbehaviours are narrowed by. */
export interface RequestFacts {
  readonly path: string;
  readonly group?: string;
  readonly kind?: string;
  readonly resource?: RequestedResource;
}

/** What misbehaviours see of the request. */
export function factsOf(asked: RequestTarget, path: string): RequestFacts {
  if (asked.type === 'resource') return { path, group: asked.resource.group, kind: asked.storage.kind.kind, resource: asked.resource };
  return 'group' in asked && asked.group !== undefined ? { path, group: asked.group } : { path };
}

/** True if all that the scope says holds for the request. */
export function isWithin(facts: RequestFacts, scope: SimScope): boolean {
  const { resource } = facts;
  return (
    (scope.path === undefined || scope.path === facts.path) &&
    (scope.group === undefined || scope.group === facts.group) &&
    (scope.kind === undefined || scope.kind === facts.kind) &&
    (scope.resource === undefined || scope.resource === resource?.resource) &&
    (scope.verb === undefined || scope.verb === resource?.verb) &&
    (scope.namespace === undefined || (resource !== undefined && scope.namespace === (resource.namespace ?? '')))
  );
}

interface Rule<T> {
  readonly value: T;
  readonly scope: SimScope;
  left: number;
}

/** Misbehaviours of one sort that are in force, the oldest first. */
export class RuleSet<T> {
  #rules: Rule<T>[] = [];
  readonly #ended: (() => void) | undefined;

  /** `ended` is called when a rule is disposed of. */
  constructor(ended?: () => void) {
    this.#ended = ended;
  }

  /** In force until it is disposed of, or was used so many times. */
  add(value: T, scope: SimScope, times = Number.POSITIVE_INFINITY): Disposable {
    const rule: Rule<T> = { value, scope, left: times };
    this.#rules.push(rule);
    return {
      [Symbol.dispose]: () => {
        this.#rules = this.#rules.filter((other) => other !== rule);
        this.#ended?.();
      },
    };
  }

  /** The first rule that is meant for the request. Not counted as a use. */
  find(facts: RequestFacts): T | undefined {
    return this.#rules.find(({ scope }) => isWithin(facts, scope))?.value;
  }

  /** The same, counted. */
  take(facts: RequestFacts): T | undefined {
    const rule = this.#rules.find(({ scope }) => isWithin(facts, scope));
    if (rule === undefined) return undefined;
    rule.left -= 1;
    if (rule.left <= 0) this.#rules = this.#rules.filter((other) => other !== rule);
    return rule.value;
  }
}
