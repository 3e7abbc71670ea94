import type { ClusterApi } from '../../cluster/cluster-api.ts';
import type { Clock } from '../../core/clock.ts';
import { type Fault, fault } from '../../core/faults.ts';
import { type GroupKind, keyOfKind, type ServedResource } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import type { MemberChange, MemberObjects } from '../../store/member-objects.ts';
import type { AccessRequest, Caller, User, Visibility } from '../access.ts';
import type { DecisionCache } from '../decisions/decision-cache.ts';
import type { DecisionCounts } from '../decisions/decision-counts.ts';
import { decisionMs } from '../decisions/decision-times.ts';
import type { Decisions, Verdict } from '../decisions/decisions.ts';
import { visibilityFrom } from '../decisions/visibility-from.ts';
import { proposeClusterAccess } from '../rbac/cluster-proposals.ts';
import { ClusterRbac } from '../rbac/cluster-rbac.ts';
import type { ResourceAttributes } from '../rbac/policy-rules.ts';
import { SubjectEpochs } from '../rbac/subject-epochs.ts';
import type { SubjectKey } from '../rbac/subjects.ts';
import { ClusterReviews, type Review, type ReviewAnswer } from '../reviews/cluster-reviews.ts';
import { explainAnswer } from '../rights/explain-answer.ts';
import type { RightAnswer, RightQuestion } from '../rights/own-rights.ts';
import { attributesOf } from '../rights/review-attributes.ts';
import type { ClusterIdentity } from '../user-in-cluster.ts';
import { CallerInCluster, type KnownUser } from './caller-in-cluster.ts';

/** A cluster whose rights are checked. */
export interface AccessMember {
  readonly name: ClusterName;
  readonly api: Pick<ClusterApi, 'cluster' | 'send'>;
  /** How the users of the gateway are named in this cluster. Default: as in the gateway. */
  readonly identity?: ClusterIdentity | undefined;
  /**
   * `sar`: the API server decides. `rbac`: the mirrored RBAC objects decide, until a comparison shows that the API server decides differently.
   * `live`: as `sar`. Each read of objects is then decided once more, because it is sent as the caller. Default: `sar`.
   */
  readonly authorization?: 'sar' | 'rbac' | 'live' | undefined;
}

/** The parts that the access of all clusters shares. */
export interface AccessServices {
  readonly objects: MemberObjects;
  readonly cache: DecisionCache;
  readonly counts: DecisionCounts;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the record of a caller in a cluster, by a key of both. If there is none, creates it with `create`. */
  readonly callerIn: (key: string, create: () => CallerInCluster) => CallerInCluster;
  /** Returns the user of a caller as clusters with these prefixes know it. */
  readonly userIn: (identity: ClusterIdentity | undefined, caller: AuthenticatedCaller) => KnownUser;
  /** Called after rights in the cluster may have changed. */
  readonly onChange: (cluster: ClusterName) => void;
}

/** An authenticated caller. */
export type AuthenticatedCaller = Caller & { readonly user: User };

/** A request for a kind that the cluster serves. */
type KindRequest = Omit<AccessRequest, 'caller' | 'cluster' | 'verb'> & { readonly verb: string; readonly served: ServedResource };

/** A question about one caller and resource, with the decisions that are known. `key` is their key in the cache. */
interface AccessQuestion {
  readonly caller: CallerInCluster;
  readonly attributes: ResourceAttributes;
  readonly decisions: Decisions;
  readonly key: string;
}

/**
 * Milliseconds after a change of RBAC objects at which decisions are made again. An API server learns of the change through a watch of its own,
 * so its first answers may not include the change yet.
 */
const settleMs = 1_000;

/** Milliseconds for which a cluster stays visible if it does not answer, after its last answer. */
const visibleWithoutAnswerMs = 86_400_000;

/** Fraction of the decisions of mirrored RBAC objects that are compared with the API server, after the first one for a namespace. */
const comparedShare = 0.01;

const noNamespaces: ReadonlySet<string> = new Set();

/** The decision for an object that no mirrored binding names: denied, without a request. */
const notProposed: Verdict = { isAllowed: false };

/** The visibility of an empty set of namespaces. It has no fault, because a hidden object looks like an absent one. */
export const nothingVisible: Visibility = { type: 'namespaces', namespaces: noNamespaces };

/**
 * The rights of all callers in one cluster. The API server decides, by SubjectAccessReviews, unless the config lets the mirrored RBAC objects
 * decide. The mirror of the RBAC objects proposes the namespaces to ask about, and ends decisions when it changes.
 */
export class ClusterAccess {
  readonly #member: AccessMember;
  readonly #id: number;
  readonly #services: AccessServices;
  readonly #signal: AbortSignal;
  readonly #epochs = new SubjectEpochs();
  readonly #reviews: ClusterReviews;
  readonly #rbac: ClusterRbac;
  #authorization: 'sar' | 'rbac';

  /**
   * Keeps the mirrors of the RBAC objects running until the signal aborts. `id` distinguishes this member from earlier ones of the same name,
   * whose decisions must not be used.
   */
  constructor(member: AccessMember, { id, services }: { readonly id: number; readonly services: AccessServices }, signal: AbortSignal) {
    this.#member = member;
    this.#id = id;
    this.#services = services;
    this.#signal = signal;
    this.#authorization = member.authorization === 'rbac' ? 'rbac' : 'sar';
    this.#reviews = new ClusterReviews({ api: member.api, clock: services.clock }, signal);
    const { objects } = services;
    this.#rbac = new ClusterRbac({ cluster: member.name, objects, onChange: (subjects) => this.#rightsChanged(subjects) }, signal);
  }

  /** Handles a change of the mirrors of this cluster. */
  changed(change: MemberChange): void {
    this.#rbac.changed(change);
  }

  /** Returns the visibility of a kind or of one object, as `Access.visibilityOf` does. */
  visibilityOf(caller: AuthenticatedCaller, request: KindRequest): Visibility | Promise<Visibility> {
    return request.object === undefined ? this.#kindVisibility(caller, request) : this.#objectVisibility(caller, request, request.object);
  }

  /** True if the caller may see anything in the cluster, as far as is known. */
  isVisibleTo(caller: AuthenticatedCaller): boolean {
    return this.#callerOf(caller).isVisible(this.#nowMs);
  }

  /**
   * Finds out whether the caller may see anything in the cluster. Undefined if that is known, or if the cluster did not answer the last time
   * and is now asked again in the background.
   */
  reviewVisibility(caller: AuthenticatedCaller): Promise<void> | undefined {
    const known = this.#callerOf(caller);
    if (known.isVisibilityKnown(this.#nowMs) && this.#epochs.holdsSince(known.version, known.subjects)) return undefined;
    known.reviewing ??= this.#reviewCluster(known).finally(() => {
      known.reviewing = undefined;
    });
    return known.wasUnanswered ? undefined : known.reviewing;
  }

  /** Returns the time in monotonic milliseconds until which the visibility of the cluster is known for the caller. */
  visibleUntilMs(caller: AuthenticatedCaller): number {
    return this.#callerOf(caller).knownUntilMs;
  }

  /**
   * Answers the question of a caller about a right, as `OwnRights.explain` does. Sends a review each time, because cached decisions have no
   * reason.
   */
  async explain(authenticated: AuthenticatedCaller, question: RightQuestion, served: ServedResource): Promise<RightAnswer> {
    const caller = this.#callerOf(authenticated);
    const attributes = attributesOf(question, served);
    const { name } = this.#member;
    const visibilityOf = (kind: GroupKind, verb: string, subresource?: string) => {
      const resource = this.#services.objects.served(name, kind);
      if (resource === undefined || resource === 'absent') return nothingVisible;
      return this.#kindVisibility(authenticated, { kind, verb, served: resource, ...(subresource === undefined ? {} : { subresource }) });
    };
    const answer = await this.#reviews.ask({ user: caller.user, userKey: caller.key, attributes });
    return explainAnswer({ caller, question, served, attributes, answer, rbac: this.#rbac, visibilityOf });
  }

  get #nowMs(): number {
    return this.#services.clock.monotonic();
  }

  get #allowedMs(): number {
    return this.#rbac.isComplete ? decisionMs.allowed : decisionMs.allowedUnmirrored;
  }

  #callerOf({ key, user }: AuthenticatedCaller): CallerInCluster {
    return this.#services.callerIn(
      `${key} ${this.#id}`,
      () => new CallerInCluster(key, this.#services.userIn(this.#member.identity, { key, user })),
    );
  }

  #rightsChanged(subjects: readonly SubjectKey[] | 'all'): void {
    const { clock, onChange } = this.#services;
    const bump = () => {
      this.#epochs.bump(subjects);
      onChange(this.#member.name);
    };
    bump();
    void clock.sleep(settleMs, this.#signal).then(() => {
      if (!this.#signal.aborted) bump();
    });
  }

  #kindVisibility(caller: AuthenticatedCaller, request: KindRequest): Visibility | Promise<Visibility> {
    const question = this.#questionOf(caller, request);
    const { decisions } = question;
    const nowMs = this.#nowMs;
    const known = request.namespaces === undefined ? decisions.visibility(nowMs) : undefined;
    if (known !== undefined) return known;
    const found = this.#settle(
      question,
      request,
      (namespace) => decisions.get(namespace, nowMs) ?? this.#localVerdict(question, namespace),
    );
    return found.type === 'settled' ? found.visibility : this.#reviewKind(question, request);
  }

  /** Asks for the missing decisions, and returns the visibility that follows from all of them. */
  async #reviewKind(question: AccessQuestion, request: KindRequest): Promise<Visibility> {
    const verdicts = new Map<string, Verdict>();
    for (;;) {
      const found = this.#settle(question, request, (namespace) => verdicts.get(namespace));
      if (found.type === 'settled') {
        this.#services.cache.updateSize(question.key, question.decisions);
        return found.visibility;
      }
      await Promise.all(found.namespaces.map(async (namespace) => verdicts.set(namespace, await this.#verdictIn(question, namespace))));
    }
  }

  #settle(question: AccessQuestion, request: KindRequest, verdictOf: (namespace: string) => Verdict | undefined) {
    const { kind, verb, served, namespaces: named } = request;
    const { caller, attributes, decisions } = question;
    // For a Namespace, the API server uses its name as the namespace of the request, so a RoleBinding may allow to get it.
    const isNamespaced = served.namespaced || (isNamespace(served) && verb === 'get');
    const candidates = () => [...this.#rbac.index.namespacesAllowing(caller.subjects, { ...attributes, name: undefined })];
    const forbidden = () => this.#forbidden(kind, verb);
    const found = visibilityFrom(verdictOf, { isNamespaced, candidates, named, forbidden });
    const holds = () => this.#epochs.holdsSince(decisions.version, caller.subjects);
    if (found.type === 'settled' && named === undefined && holds())
      decisions.setVisibility(this.#services.cache.shared(found.visibility), found.namespaces);
    return found;
  }

  /**
   * Returns the visibility for one object: its namespace, or `all` for an object without one, if the caller may access it. Else the object is
   * hidden without a fault, like an absent one. The fault `FORBIDDEN` is only for callers without the right in any namespace.
   */
  async #objectVisibility(
    caller: AuthenticatedCaller,
    request: KindRequest,
    object: NonNullable<AccessRequest['object']>,
  ): Promise<Visibility> {
    const { namespace, name } = object;
    const isProposed = request.onlyIfBound !== true || this.#rbac.index.allows(this.#callerOf(caller).subjects, attributesOfRead(request));
    const { isAllowed, fault: unanswered } = isProposed ? await this.#verdictIn(this.#questionOf(caller, request), '') : notProposed;
    if (isAllowed) return namespace === undefined ? { type: 'all' } : { type: 'namespaces', namespaces: new Set([namespace]) };
    if (unanswered !== undefined) return { type: 'none', fault: { ...unanswered, kind: groupKindOf(request.kind) } };
    const place = isNamespace(request.served) ? name : namespace;
    const namespaces = place === undefined ? undefined : [place];
    const all = await this.#kindVisibility(caller, { ...request, object: undefined, namespaces });
    return all.type === 'none' ? all : nothingVisible;
  }

  /** Returns the question of a request, with the decisions for it that still hold. */
  #questionOf(authenticated: AuthenticatedCaller, request: KindRequest): AccessQuestion {
    const { cache } = this.#services;
    const caller = this.#callerOf(authenticated);
    const { verb, subresource, object, served } = request;
    const { group, resource } = served;
    const place = object === undefined ? '' : ` ${object.namespace ?? ''}/${object.name}`;
    const key = `${authenticated.key} ${this.#id} ${verb} ${group}/${resource}/${subresource ?? ''}${place}`;
    const { version } = this.#epochs;
    const decisions = cache.get(key) ?? cache.add(key, version);
    if (this.#epochs.holdsSince(decisions.version, caller.subjects)) decisions.confirm(version);
    else decisions.restart(version);
    return { caller, attributes: attributesOfRead(request), decisions, key };
  }

  /** Returns the decision for a namespace (`''`: for all, or for the object of the question). Asks the API server if it is not known. */
  async #verdictIn(question: AccessQuestion, namespace: string): Promise<Verdict> {
    const { caller, decisions } = question;
    const known = decisions.get(namespace, this.#nowMs) ?? this.#localVerdict(question, namespace);
    if (known !== undefined) return known;
    const { version } = this.#epochs;
    const verdict = await this.#reviews.ask(reviewOf(question, namespace));
    this.#services.counts.decided('sar', verdict);
    const holdsMs = verdict.isAllowed ? this.#allowedMs : decisionMs.denied;
    // Rights have changed during the review, so the answer may be outdated. It serves this request and is not cached.
    if (!this.#epochs.holdsSince(version, caller.subjects)) return verdict;
    const isChanged = decisions.set(namespace, verdict, { nowMs: this.#nowMs, holdsMs });
    if (isChanged) this.#services.onChange(this.#member.name);
    return verdict;
  }

  /**
   * Returns and records the decision of the mirrored RBAC objects, and compares some of these decisions with the API server later. Undefined
   * if the API server decides: by config, after two differing comparisons, while the objects are not mirrored, and for a user with `extra`
   * values, which other authorizers may read.
   */
  #localVerdict(question: AccessQuestion, namespace: string): Verdict | undefined {
    const { caller, decisions } = question;
    if (!this.#decidesLocally(caller)) return undefined;
    const verdict = { isAllowed: this.#isAllowedLocally(question, namespace) };
    this.#services.counts.decided('rbac', verdict);
    decisions.set(namespace, verdict, { nowMs: this.#nowMs, holdsMs: decisionMs.allowed });
    if (decisions.needsComparison(namespace) || this.#services.clock.random() < comparedShare) void this.#compare(question, namespace);
    return verdict;
  }

  #decidesLocally({ user }: CallerInCluster): boolean {
    return this.#authorization === 'rbac' && this.#rbac.isComplete && Object.keys(user.extra).length === 0;
  }

  #isAllowedLocally(question: AccessQuestion, namespace: string): boolean {
    return this.#rbac.index.allows(question.caller.subjects, reviewOf(question, namespace).attributes);
  }

  /** Compares a local decision with the API server. If they differ twice, the API server decides from then on. */
  async #compare(question: AccessQuestion, namespace: string): Promise<void> {
    const { clock, log, counts, onChange } = this.#services;
    const isEqual = async () => {
      const answer = await this.#reviews.ask(reviewOf(question, namespace));
      if (answer.fault !== undefined) question.decisions.forgetComparison(namespace);
      return answer.fault !== undefined || answer.isAllowed === this.#isAllowedLocally(question, namespace);
    };
    if (await isEqual()) return;
    // After a change, the mirror or the API server may be ahead of the other for a moment.
    await clock.sleep(settleMs, this.#signal);
    if (this.#signal.aborted || this.#authorization === 'sar' || (await isEqual())) return;
    this.#authorization = 'sar';
    const { name } = this.#member;
    counts.disagreed(name);
    log.warn(
      { cluster: name },
      'the API server decides differently from its RBAC objects: the rights in this cluster are now decided by reviews',
    );
    this.#epochs.bump('all');
    onChange(name);
  }

  /**
   * Finds out whether the caller may see anything in the cluster, and records it. Asks for the likeliest access first. If it is denied, asks
   * for the others together.
   */
  async #reviewCluster(caller: CallerInCluster): Promise<void> {
    const { version } = this.#epochs;
    const [first, ...rest] = proposeClusterAccess(this.#rbac.index.rulesOf(caller.subjects));
    const { counts } = this.#services;
    const ask = async (attributes: ResourceAttributes): Promise<ReviewAnswer> => {
      const isLocal = this.#decidesLocally(caller) && this.#rbac.index.allows(caller.subjects, attributes);
      const answer = isLocal ? { isAllowed: true } : await this.#reviews.ask({ user: caller.user, userKey: caller.key, attributes });
      counts.decided(isLocal ? 'rbac' : 'sar', answer);
      return answer;
    };
    const answers = first === undefined ? [] : [await ask(first)];
    const isDecided = answers.some(({ isAllowed, fault: unanswered }) => isAllowed || unanswered !== undefined);
    if (!isDecided) answers.push(...(await Promise.all(rest.map(ask))));
    const isAllowed = answers.some((answer) => answer.isAllowed);
    const isUnanswered = !isAllowed && answers.some((answer) => answer.fault !== undefined);
    const holdsMs = isAllowed ? this.#allowedMs : decisionMs.denied;
    const isChanged = caller.setVisibility(
      { isAllowed, isUnanswered, version },
      { nowMs: this.#nowMs, holdsMs, keptMs: visibleWithoutAnswerMs },
    );
    if (isChanged) this.#services.onChange(this.#member.name);
  }

  #forbidden(kind: AccessRequest['kind'], verb: string): Fault {
    const message = `${keyOfKind(kind)}: the caller may not ${verb} this kind in any namespace of the cluster`;
    return fault('FORBIDDEN', message, { cluster: this.#member.name, kind: groupKindOf(kind), retry: 'NEVER' });
  }
}

/** Returns the review of a question in one namespace. `''`: in all namespaces, or for the object of the question. */
function reviewOf({ caller, attributes }: AccessQuestion, namespace: string): Review {
  return { user: caller.user, userKey: caller.key, attributes: namespace === '' ? attributes : { ...attributes, namespace } };
}

/** Returns the attributes of a review. The API server takes the name of a Namespace for its namespace. */
function attributesOfRead({ verb, subresource, object, served }: KindRequest): ResourceAttributes {
  const { group, resource } = served;
  const about = object === undefined ? {} : { name: object.name, namespace: isNamespace(served) ? object.name : object.namespace };
  return { verb, group, resource, subresource, ...about };
}

function isNamespace({ group, kind }: ServedResource): boolean {
  return group === '' && kind === 'Namespace';
}

function groupKindOf({ group, kind }: AccessRequest['kind']): AccessRequest['kind'] {
  return { group, kind };
}
