import type { RequestedResource } from '../../../src/sim/kinds/embedded-cluster.ts';
import type { RequestTarget } from '../../../src/sim/requests/request-target.ts';
import type { SimScope } from './misbehaviours.ts';

/** The facts of a request that a scope can select by. */
export interface RequestFacts {
  readonly path: string;
  readonly group?: string;
  readonly kind?: string;
  readonly resource?: RequestedResource;
}

/** Returns the facts of a request. */
export function factsOf(asked: RequestTarget, path: string): RequestFacts {
  if (asked.type === 'resource') return { path, group: asked.resource.group, kind: asked.storage.kind.kind, resource: asked.resource };
  return 'group' in asked && asked.group !== undefined ? { path, group: asked.group } : { path };
}

/** True if all fields of the scope match the request. */
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

/** Misbehaviours of one type that are in force, the oldest first. */
export class RuleSet<T> {
  #rules: Rule<T>[] = [];
  readonly #ended: (() => void) | undefined;

  /** `ended` is called when a rule is disposed of. */
  constructor(ended?: () => void) {
    this.#ended = ended;
  }

  /** Adds a rule. It is in force until it is disposed of, or was used `times` times. */
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

  /** Returns the first rule that matches the request, without counting it as used. */
  find(facts: RequestFacts): T | undefined {
    return this.#rules.find(({ scope }) => isWithin(facts, scope))?.value;
  }

  /** Returns the first matching rule and counts it as used. */
  take(facts: RequestFacts): T | undefined {
    const rule = this.#rules.find(({ scope }) => isWithin(facts, scope));
    if (rule === undefined) return undefined;
    rule.left -= 1;
    if (rule.left <= 0) this.#rules = this.#rules.filter((other) => other !== rule);
    return rule.value;
  }
}
