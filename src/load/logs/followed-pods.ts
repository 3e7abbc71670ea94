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

/** Who wants to know the Pods of one cluster. */
export interface PodsListener {
  /** New or changed. `later`: it was created after the Pods of the cluster became known. */
  pod(pod: KubernetesObject, since: 'first' | 'later'): void;
  gone(pod: KubernetesObject): void;
  /** These are all there are, whatever was told before; in no promised order. `since` holds for those that are new. */
  all(pods: readonly KubernetesObject[], since: 'first' | 'later'): void;
  /** The cluster has left, and its Pods with it. */
  forgotten(): void;
  /** They are not known, or may have changed without our knowledge: once for each trouble. */
  failed(fault: Fault): void;
}

export interface FollowedPodsOptions {
  readonly mirrors: Mirrors;
  /** Of the reader: holds the mirrors of Pods in all clusters. */
  readonly loader: MirrorLoader;
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  readonly namespaces: readonly string[] | undefined;
  /** What may be seen of them now. */
  readonly visibility: () => Visibility;
  readonly listener: PodsListener;
  /** Answers for a bug while the Pods of a cluster that came back are loaded. */
  readonly onThrow: (error: unknown) => void;
}

interface Held {
  readonly mirror: MirrorReader;
  readonly ending: AbortController;
  /** The first list was whole: what is new from now on is really new. */
  isWhole: boolean;
}

/** The Pods of one cluster, until it is disposed of. It follows their mirror as soon as the cluster serves them, and again after it came back. */
export class FollowedPods implements Disposable {
  readonly #options: FollowedPodsOptions;
  #held: Held | undefined;
  #told: string | undefined;
  #disposed = false;

  constructor(options: FollowedPodsOptions) {
    this.#options = options;
  }

  /** Begins, if that can be now; else as soon as `changed` says so. */
  join(): void {
    if (this.#disposed || this.#held !== undefined) return;
    const { loader, cluster, kind, namespaces, onThrow } = this.#options;
    // At once, but for a cluster that came back.
    const joining = mapPromiseOrValue(loader.load({ cluster, kind, namespaces }), (mirror) => {
      if (this.#disposed || this.#held !== undefined) return;
      if (mirror === undefined) this.#tellAbsence();
      else this.#follow(mirror);
    });
    if (joining instanceof Promise) joining.catch(onThrow);
  }

  /** To be called with what the mirrors say of this cluster. */
  changed(change: MirrorsChange): void {
    const { kind } = this.#options;
    if (change.type !== 'mirrored') this.join();
    else if (this.#held !== undefined && keyOfKind(change.kind) === keyOfKind(kind)) this.#tell(change.sync.fault ?? this.#unread);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#leave();
  }

  #follow(mirror: MirrorReader): void {
    const { listener } = this.#options;
    const held: Held = { mirror, ending: new AbortController(), isWhole: false };
    this.#held = held;
    const { snapshot, version } = mirror.store.follow((events) => this.#handle(held, events), held.ending.signal);
    held.isWhole = version !== undefined;
    listener.all(snapshot, 'first');
    this.#tell(mirror.sync().fault ?? this.#unread);
  }

  #handle(held: Held, events: readonly StoreEvent[]): void {
    for (const event of events) if (this.#held === held) this.#apply(held, event);
  }

  #apply(held: Held, event: StoreEvent): void {
    const { listener } = this.#options;
    switch (event.type) {
      case 'applied':
        // A Pod that was known is no new one, though it may match only now.
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
        this.#tell(this.#unread);
        break;
      case 'failed':
        this.#tell(event.fault);
        break;
      case 'gone':
        this.#leave();
        this.#tell(event.fault);
        listener.forgotten();
        break;
      case 'confirmed':
        break;
      default:
        event satisfies never;
    }
  }

  /** Why nothing is known of some of the namespaces. */
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

  #tellAbsence(): void {
    const { mirrors, cluster, kind } = this.#options;
    const { fault } = absenceOf({ cluster, kind, verb: 'list', isNamed: true }, mirrors);
    this.#tell(fault);
  }

  #tell(fault: Fault | undefined): void {
    // That nothing is known yet is no trouble, nor the end of one.
    if (fault?.code === 'SYNCING') return;
    const what = fault === undefined ? undefined : `${fault.code} ${fault.message}`;
    const isNews = fault !== undefined && what !== this.#told;
    this.#told = what;
    if (isNews) this.#options.listener.failed(fault);
  }
}
