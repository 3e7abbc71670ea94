import type { Visibility } from '../../access/access.ts';
import type { Fault } from '../../core/faults.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { mapPromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { ModelKind } from '../../model/model.ts';
import type { StoreEvent } from '../../store/mirror-store.ts';
import type { MirrorReader, Mirrors, MirrorsChange } from '../../watch/mirrors.ts';
import type { MirrorLoader } from '../reads/mirror-loader.ts';
import { absenceOf, unreadNamespacesFault } from '../reads/read-sources.ts';
import type { ClusterView } from '../reads/reads.ts';

/** A listener for the Pods of one cluster. */
export interface PodsListener {
  /** Called for a new or changed Pod. `since` is `later` for a Pod that is new after the complete first list, and otherwise `first`. */
  pod(pod: KubernetesObject, since: 'first' | 'later'): void;
  gone(pod: KubernetesObject): void;
  /**
   * Called with all current Pods, in any order. Earlier Pods that are not in `pods` are gone. `since` applies to the Pods that the listener does
   * not know yet.
   */
  all(pods: readonly KubernetesObject[], since: 'first' | 'later'): void;
  /** Called when the cluster has left the fleet. Its Pods are gone. */
  forgotten(): void;
  /** Called when the Pods are unknown or may have changed unnoticed. It is called once for each failure. */
  failed(fault: Fault): void;
}

export interface FollowedPodsOptions {
  readonly mirrors: Mirrors;
  /** The loader of the reader. It holds the mirrors of Pods in all clusters. */
  readonly loader: MirrorLoader;
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  readonly namespaces: readonly string[] | undefined;
  /** Returns the namespaces in which the caller may currently see Pods. */
  readonly visibility: () => Visibility;
  readonly listener: PodsListener;
  /** Called for an error that is thrown while the Pods of a cluster that came back are loaded. */
  readonly onThrow: (error: unknown) => void;
}

interface HeldPods {
  readonly mirror: MirrorReader;
  readonly ending: AbortController;
  /** True after the first complete list. Pods that appear later are really new. */
  isWhole: boolean;
}

/**
 * Reports the Pods of one cluster to a listener. Follows the mirror of Pods as soon as the cluster serves them, and again after the cluster
 * has come back. Ends when it is disposed of.
 */
export class FollowedPods implements Disposable {
  readonly #options: FollowedPodsOptions;
  #held: HeldPods | undefined;
  #reported: string | undefined;
  #disposed = false;

  constructor(options: FollowedPodsOptions) {
    this.#options = options;
  }

  /** Starts to follow the Pods if the cluster serves them. Otherwise reports the fault. `changed` then tries again. */
  join(): void {
    if (this.#disposed || this.#held !== undefined) return;
    const { loader, cluster, kind, namespaces, onThrow } = this.#options;
    // Resolves at once, except for a cluster that came back.
    const joining = mapPromiseOrValue(loader.load({ cluster, kind, namespaces }), (mirror) => {
      if (this.#disposed || this.#held !== undefined) return;
      if (mirror === undefined) this.#reportAbsence();
      else this.#follow(mirror);
    });
    if (joining instanceof Promise) joining.catch(onThrow);
  }

  /** Applies a change of this cluster or its mirrors: calls `join`, or reports a new fault of the mirror of Pods. */
  changed(change: MirrorsChange): void {
    const { kind } = this.#options;
    if (change.type !== 'mirrored') this.join();
    else if (this.#held !== undefined && keyOfKind(change.kind) === keyOfKind(kind)) this.#reportFault(change.sync.fault ?? this.#unread);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#leave();
  }

  #follow(mirror: MirrorReader): void {
    const { listener } = this.#options;
    const held: HeldPods = { mirror, ending: new AbortController(), isWhole: false };
    this.#held = held;
    const { snapshot, version } = mirror.store.follow((events) => this.#handle(held, events), held.ending.signal);
    held.isWhole = version !== undefined;
    listener.all(snapshot, 'first');
    this.#reportFault(mirror.sync().fault ?? this.#unread);
  }

  #handle(held: HeldPods, events: readonly StoreEvent[]): void {
    for (const event of events) if (this.#held === held) this.#apply(held, event);
  }

  #apply(held: HeldPods, event: StoreEvent): void {
    const { listener } = this.#options;
    switch (event.type) {
      case 'applied':
        // A Pod that existed before is not new, even if it matches only now.
        listener.pod(event.object, held.isWhole && event.before === undefined ? 'later' : 'first');
        break;
      case 'deleted':
        listener.gone(event.object);
        break;
      case 'reset':
        listener.all(event.snapshot, held.isWhole ? 'later' : 'first');
        break;
      case 'synced':
        held.isWhole = true;
        this.#reportFault(this.#unread);
        break;
      case 'failed':
        this.#reportFault(event.fault);
        break;
      case 'gone':
        this.#leave();
        this.#reportFault(event.fault);
        listener.forgotten();
        break;
      case 'confirmed':
        break;
      default:
        event satisfies never;
    }
  }

  /** The fault of requested namespaces that are not mirrored. Undefined if all are mirrored, or if there is no mirror. */
  get #unread(): Fault | undefined {
    const { visibility, namespaces } = this.#options;
    const seen = visibility();
    return this.#held === undefined || seen.type === 'none' ? undefined : unreadNamespacesFault({ namespaces }, this.#held.mirror, seen);
  }

  #leave(): void {
    this.#held?.ending.abort();
    this.#held = undefined;
    this.#options.loader.release(this.#options);
  }

  #reportAbsence(): void {
    const { mirrors, cluster, kind } = this.#options;
    const { fault } = absenceOf({ cluster, kind, verb: 'list', isNamed: true }, mirrors);
    this.#reportFault(fault);
  }

  #reportFault(fault: Fault | undefined): void {
    // While the first list is incomplete, no fault is reported, and the last reported fault stays remembered.
    if (fault?.code === 'SYNCING') return;
    const failure = fault === undefined ? undefined : `${fault.code} ${fault.message}`;
    const isNew = fault !== undefined && failure !== this.#reported;
    this.#reported = failure;
    if (isNew) this.#options.listener.failed(fault);
  }
}
