import { isWithin, type RequestFacts } from './asked.ts';
import type { SimScope } from './misbehaviours.ts';

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
