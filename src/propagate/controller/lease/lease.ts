import type { CoordinationV1Api, V1Lease, V1LeaseSpec } from '@kubernetes/client-node';
import { describeFault } from '../../../changes/describe-fault.ts';
import { fieldManager } from '../../../changes/object-client.ts';
import type { TypedAnswer } from '../../../cluster/typed-api.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Fault } from '../../../core/faults.ts';
import type { Log } from '../../../core/log.ts';
import { callHub, type HubConnection, hubFault } from '../../hub/hub.ts';
import type { LeaderStatus } from './leadership.ts';
import { claimedSpec, leaseHolderOf, releasedSpec, textOfRecord } from './lease-record.ts';

/** Another process may acquire the Lease after it has been unchanged for this time. */
const leaseMs = 15_000;
/** A term ends this time after the last renewal: 5 s before another process may lead. */
const deadlineMs = 10_000;
const retryMs = 2_000;
/** Timeout of one request, as in client-go. It leaves time for another request before the term ends. */
const callMs = deadlineMs / 2;

/** The time for which one process leads. */
export interface Term {
  /** Aborts as soon as the term ends, whatever the reason. */
  readonly signal: AbortSignal;
  /**
   * True until the monotonic deadline of the last renewal. Checked before each write: a process that was suspended notices here that its
   * term has ended.
   */
  isLeading(): boolean;
}

export interface LeaseOptions {
  readonly hub: HubConnection;
  readonly namespace: string;
  readonly name: string;
  /** Unique per process: two processes with the same identity would both lead. */
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with the current leader after each attempt to get the Lease. */
  readonly onTry?: ((found: LeaderStatus) => void) | undefined;
}

/**
 * Leads whenever this process can get the Lease, by client-go's algorithm (tools/leaderelection): lease duration 15 s, renew deadline 10 s,
 * retry period 2 s. Resolves when the signal aborts, or when the Lease cannot stay in its namespace (deleted, or rights are missing).
 *
 * Times that other processes wrote are never compared with our clock. The Lease is free once this process has seen it unchanged for 15 s.
 *
 * A term ends 10 s after the last successful renewal was sent, or with the signal. A request without an answer is given up after 5 s and
 * sent again. After the end of a term, this function waits for `work`. Only then it releases the Lease, or tries to get it again. `work`
 * must end soon after its signal aborts, and must not throw.
 */
export async function lead(options: LeaseOptions, work: (term: Term) => Promise<void>, signal: AbortSignal): Promise<void> {
  const { clock, log, identity, name, onTry } = options;
  const lease = new HubLease(options);
  while (!signal.aborted) {
    const isOurs = await lease.claim(signal);
    if (!signal.aborted) onTry?.(lease.leader());
    if (!isOurs) {
      if (lease.isMisplaced()) return;
      await clock.sleep(retryMs * (1 + 0.2 * clock.random()), signal);
      continue;
    }
    log.info({ lease: name, identity }, 'leads');
    using over = abortableTerm(signal);
    const working = work({ signal: over.signal, isLeading: () => !over.signal.aborted && lease.isHeld() });
    await Promise.all([renewUntilLost(lease, clock, over), endAtDeadline(lease, clock, over)]);
    log.info({ lease: name, identity, asked: signal.aborted }, 'stopped leading');
    await working;
  }
  // The Lease is released last, after the work has ended.
  await lease.release();
}

/**
 * Renews the Lease, and ends the term if another process has it. Never renews it after the end of the term, because the work has already
 * been stopped.
 */
async function renewUntilLost(lease: Lease, clock: Clock, over: AbortableTerm): Promise<void> {
  for (;;) {
    await clock.sleep(retryMs, over.signal);
    if (!lease.isHeld()) over.abort();
    if (over.signal.aborted) return;
    await lease.claim(over.signal);
    if (!lease.isHeld()) over.abort();
  }
}

/** Ends the term at its deadline, even if a renewal hangs. */
async function endAtDeadline(lease: Lease, clock: Clock, over: AbortableTerm): Promise<void> {
  while (!over.signal.aborted && lease.isHeld()) await clock.sleep(lease.heldUntilMs() - clock.monotonic(), over.signal);
  over.abort();
}

interface Lease {
  /** Acquires the Lease if it is free, or renews it if this process holds it. True if this process holds it now. Does not throw. */
  claim(signal: AbortSignal): Promise<boolean>;
  /** True until the deadline, unless another process was seen to hold the Lease. */
  isHeld(): boolean;
  heldUntilMs(): number;
  /** Returns the leader, as found by the last claim. */
  leader(): LeaderStatus;
  /** True if the last claim was refused because of the namespace: it does not exist, is being deleted, or the rights in it are missing. */
  isMisplaced(): boolean;
  /** Releases the Lease if this process holds it, so that the next process need not wait 15 s. */
  release(): Promise<void>;
}

class HubLease implements Lease {
  readonly #options: LeaseOptions;
  /** The Lease as last read, and when it was first read in this form, by the monotonic clock. */
  #seen: { readonly lease: V1Lease; readonly record: string; readonly atMs: number } | undefined;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  /** The fault of the last call. Undefined if it succeeded. */
  #fault: Fault | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  async claim(signal: AbortSignal): Promise<boolean> {
    // The process still holds the Lease as far as it knows, so it writes without reading first. If another process has
    // taken it meanwhile, the version has changed and the server refuses the write.
    if (this.isHeld() && this.#seen !== undefined && (await this.#write(signal))) return true;
    if (signal.aborted) return false;
    const found = await this.#read(signal);
    if (found === 'unknown' || signal.aborted) return false;
    if (found === 'seen' && leaseHolderOf(this.#seen?.lease) !== this.#options.identity) this.#heldUntilMs = Number.NEGATIVE_INFINITY;
    if (found === 'seen' && !this.#isFree()) return false;
    return this.#write(signal);
  }

  isHeld(): boolean {
    return this.#options.clock.monotonic() < this.#heldUntilMs;
  }

  heldUntilMs(): number {
    return this.#heldUntilMs;
  }

  leader(): LeaderStatus {
    if (this.isHeld()) return { leader: 'self' };
    if (this.#fault !== undefined) return { leader: 'nobody', why: describeFault(this.#fault) };
    return this.#isFree() ? { leader: 'nobody', why: 'the Lease is free' } : { leader: 'other' };
  }

  isMisplaced(): boolean {
    return this.#fault?.code === 'NOT_FOUND' || this.#fault?.code === 'FORBIDDEN';
  }

  async release(): Promise<void> {
    if (!this.isHeld() || this.#seen === undefined) return;
    this.#heldUntilMs = Number.NEGATIVE_INFINITY;
    const { signal } = new AbortController();
    const { lease } = this.#seen;
    this.#recordFailure(await this.#replace(lease, releasedSpec(lease, this.#options.clock.now()), signal), signal);
  }

  /**
   * Sends one request about the Lease. Writes of copies do not delay it. A request without an answer ends after 5 s with `TIMED_OUT`.
   * Leaves no timer behind.
   */
  async #call(request: (leases: CoordinationV1Api) => Promise<V1Lease>, signal: AbortSignal): Promise<TypedAnswer<V1Lease>> {
    const { hub, clock } = this.#options;
    using over = abortableTerm(signal);
    const timing = clock.sleep(callMs, over.signal).then(over.abort);
    const answer = await callHub(hub, ({ CoordinationV1Api }, transport) => request(new CoordinationV1Api(transport)), over.signal);
    const isLate = over.signal.aborted && !signal.aborted;
    over.abort();
    await timing;
    if (answer.result === 'answered' || !isLate) return answer;
    return { result: 'failed', fault: hubFault(hub, 'TIMED_OUT', `expected an answer within ${callMs / 1_000} s, got none`) };
  }

  #remember(lease: V1Lease): void {
    const record = textOfRecord(lease);
    const atMs = this.#seen?.record === record ? this.#seen.atMs : this.#options.clock.monotonic();
    this.#seen = { lease, record, atMs };
    this.#fault = undefined;
  }

  #isFree(): boolean {
    const holder = leaseHolderOf(this.#seen?.lease);
    const { identity, clock } = this.#options;
    return holder === '' || holder === identity || clock.monotonic() >= (this.#seen?.atMs ?? 0) + leaseMs;
  }

  async #read(signal: AbortSignal): Promise<'absent' | 'seen' | 'unknown'> {
    const { namespace, name } = this.#options;
    const answer = await this.#call((leases) => leases.readNamespacedLease({ namespace, name }), signal);
    if (answer.result === 'answered') this.#remember(answer.value);
    else if (isAbsent(answer.fault)) this.#seen = undefined;
    else this.#recordFailure(answer, signal);
    return answer.result === 'answered' ? 'seen' : isAbsent(answer.fault) ? 'absent' : 'unknown';
  }

  async #write(signal: AbortSignal): Promise<boolean> {
    const { clock, identity } = this.#options;
    const sentMs = clock.monotonic();
    const spec = claimedSpec(this.#seen?.lease, { identity, nowMs: clock.now(), leaseMs });
    const answer = this.#seen === undefined ? await this.#create(spec, signal) : await this.#replace(this.#seen.lease, spec, signal);
    if (answer.result !== 'answered' || signal.aborted) {
      this.#recordFailure(answer, signal);
      return false;
    }
    this.#remember(answer.value);
    // Counted from the time of sending: the server may have written it at once, and other processes count from that moment.
    this.#heldUntilMs = sentMs + deadlineMs;
    return true;
  }

  #create(spec: V1LeaseSpec, signal: AbortSignal): Promise<TypedAnswer<V1Lease>> {
    const { namespace, name } = this.#options;
    const body = { metadata: { name, namespace }, spec };
    return this.#call((leases) => leases.createNamespacedLease({ namespace, body, fieldManager }), signal);
  }

  #replace(lease: V1Lease, spec: V1LeaseSpec, signal: AbortSignal): Promise<TypedAnswer<V1Lease>> {
    const { namespace, name } = this.#options;
    return this.#call((leases) => leases.replaceNamespacedLease({ namespace, name, body: { ...lease, spec }, fieldManager }), signal);
  }

  /**
   * Records a failure. Logs it if its code differs from that of the last failure, because attempts repeat every 2 s. An aborted request is
   * no failure: the term has ended.
   */
  #recordFailure(answer: TypedAnswer<V1Lease>, { aborted }: AbortSignal): void {
    if (aborted || answer.result !== 'failed' || answer.fault.code === 'CONFLICT' || isAbsent(answer.fault)) return;
    const { code, message: reason } = answer.fault;
    const { log, name } = this.#options;
    if (this.#fault?.code !== code) log.warn({ lease: name, code, reason }, 'could not get the Lease');
    this.#fault = answer.fault;
  }
}

/**
 * True if there is no such Lease. A write to a Namespace that does not exist is answered with 404 as well: the Status then names the
 * Namespace.
 */
function isAbsent({ code, status }: Fault): boolean {
  return code === 'NOT_FOUND' && status?.message.startsWith('namespaces "') !== true;
}

/** A signal that `abort` aborts. It also aborts when the signal that it was created from aborts. */
interface AbortableTerm extends Disposable {
  readonly signal: AbortSignal;
  abort(): void;
}

/** Creates an `AbortableTerm` from a signal. Disposing the result removes its listener from that signal. */
function abortableTerm(signal: AbortSignal): AbortableTerm {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, abort, [Symbol.dispose]: () => signal.removeEventListener('abort', abort) };
}
