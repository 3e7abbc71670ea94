import type { DesiredAction } from '../../../src/sim/requests/sim-server.ts';
import type { SimAnswer, SimProhibition, StatusError, StreamingFault, WriteRefusal } from './misbehaviours.ts';
import { type RequestFacts, RuleSet } from './rule-set.ts';

/** The way in which the next event of a watch, or the next compressed list, is cut off. */
export interface Cut {
  readonly where: 'line' | 'character' | 'gzip';
  readonly end: 'reset' | 'clean';
}

/** All misbehaviours in force. Each handler of a request checks them. */
export class Behaviour {
  readonly answers = new RuleSet<SimAnswer>();
  readonly delays = new RuleSet<number>();
  readonly redirects = new RuleSet<string>();
  readonly drips = new RuleSet<true>(() => this.#resume());
  readonly chunks = new RuleSet<true>(() => this.#resume());
  readonly stalls = new RuleSet<true>(() => this.#resume());
  readonly closesAtOnce = new RuleSet<true>();
  readonly heldHeaders = new RuleSet<true>();
  readonly expirations = new RuleSet<'status' | 'event'>();
  readonly expiredLists = new RuleSet<true>();
  readonly errors = new RuleSet<StatusError>();
  readonly cuts = new RuleSet<Cut>();
  readonly streaming = new RuleSet<StreamingFault>();
  readonly refusals = new RuleSet<WriteRefusal>();
  readonly #prohibitions = new Set<SimProhibition>();
  readonly #brokenGroups = new Map<symbol, string>();
  readonly #outlets = new Set<() => void>();

  forbid(prohibition: SimProhibition): Disposable {
    this.#prohibitions.add(prohibition);
    return { [Symbol.dispose]: () => void this.#prohibitions.delete(prohibition) };
  }

  /** True if the user may not do this. A request over all namespaces needs the right in all of them. */
  isForbidden(user: string, resource: DesiredAction, kind: string | undefined): boolean {
    return [...this.#prohibitions].some((prohibition) => {
      const { group, kind: wanted, resource: plural, verbs, users, namespaces, exceptNamespaces } = prohibition;
      const concerns =
        (users === undefined || users.includes(user)) &&
        (group === undefined || group === resource.group) &&
        (wanted === undefined || wanted === kind) &&
        (plural === undefined || plural === (resource.subresource === 'log' ? 'pods/log' : resource.resource)) &&
        // A user without any rights may still be impersonated, unless impersonation itself is forbidden.
        (verbs === undefined ? resource.verb !== 'impersonate' : verbs.includes(resource.verb));
      if (!concerns) return false;
      const { namespace } = resource;
      if (namespaces !== undefined) return namespace !== undefined && namespaces.includes(namespace);
      return exceptNamespaces === undefined || namespace === undefined || !exceptNamespaces.includes(namespace);
    });
  }

  breakGroup(group: string): Disposable {
    const key = Symbol(group);
    this.#brokenGroups.set(key, group);
    return { [Symbol.dispose]: () => void this.#brokenGroups.delete(key) };
  }

  isBroken(group: string | undefined): boolean {
    return group !== undefined && [...this.#brokenGroups.values()].includes(group);
  }

  /** True while the stream must not send. */
  isStalled(facts: RequestFacts): boolean {
    return this.stalls.find(facts) !== undefined;
  }

  /** Returns how a body is sent. `bytes`: byte by byte at once. `drips`: one byte per second. */
  paceOf(facts: RequestFacts): 'whole' | 'bytes' | 'drips' {
    if (this.drips.find(facts) !== undefined) return 'drips';
    return this.chunks.find(facts) === undefined ? 'whole' : 'bytes';
  }

  /** Calls back when a reason that stalled a stream may have ended. */
  onResume(callback: () => void): Disposable {
    this.#outlets.add(callback);
    return { [Symbol.dispose]: () => void this.#outlets.delete(callback) };
  }

  #resume(): void {
    for (const callback of [...this.#outlets]) callback();
  }
}
