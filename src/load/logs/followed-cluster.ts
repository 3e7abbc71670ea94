import type { Access, Caller, Visibility } from '../../access/access.ts';
import type { ClusterApi } from '../../cluster/cluster-api.ts';
import type { Fault } from '../../core/faults.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { MirrorsChange } from '../../watch/mirrors.ts';
import type { ClusterView } from '../reads/reads.ts';
import type { FollowArguments } from './follow-arguments.ts';
import { type ContainerHost, FollowedContainer } from './followed-container.ts';
import { FollowedPods, type FollowedPodsOptions, type PodsListener } from './followed-pods.ts';
import type { LogBegin } from './log-position.ts';
import { byPlace, isPodSelected, type LogRight, logRightIn, podKind, selectedContainers } from './matching-pods.ts';

/** The rights of a caller to follow logs in one cluster. */
interface FollowRights {
  readonly visibility: Visibility;
  readonly right: LogRight;
}

interface FollowRightsRequest {
  readonly caller: Caller;
  readonly cluster: ClusterView;
  /** The selected namespaces. Default: all. */
  readonly namespaces: readonly string[] | undefined;
}

/** Returns the rights of a caller in one cluster: to watch Pods, and to read their logs. Requests those that are not known. */
export async function followRightsIn(
  access: Access,
  { caller, cluster: { name: cluster }, namespaces }: FollowRightsRequest,
  signal: AbortSignal,
): Promise<FollowRights> {
  const [visibility, right] = await Promise.all([
    access.visibilityOf({ caller, cluster, kind: podKind, verb: 'watch', namespaces }, signal),
    logRightIn(access, { caller, cluster, namespaces }, signal),
  ]);
  return { visibility, right };
}

interface FollowedClusterOptions
  extends Pick<FollowedPodsOptions, 'mirrors' | 'loader' | 'kind' | 'onThrow'>,
    Omit<ContainerHost, 'api' | 'refusal'> {
  readonly cluster: ClusterView;
  readonly followed: FollowArguments;
  readonly api: () => ClusterApi | undefined;
  readonly rights: FollowRights;
}

/** The containers of one cluster that one reader follows. Disposing it ends them without messages. */
export class FollowedCluster implements PodsListener, Disposable {
  readonly #options: FollowedClusterOptions;
  readonly #host: ContainerHost;
  readonly #pods: FollowedPods;
  /** The followed containers, by the uid and name of the Pod, then by container. */
  readonly #containers = new Map<string, Map<string, FollowedContainer>>();
  #rights: FollowRights;

  constructor(options: FollowedClusterOptions) {
    const { mirrors, loader, cluster, kind, followed, onThrow } = options;
    this.#options = options;
    this.#rights = options.rights;
    this.#host = { ...options, refusal: (namespace) => this.#rights.right.refusal(namespace) };
    const { namespaces } = followed.selection;
    this.#pods = new FollowedPods({
      mirrors,
      loader,
      cluster,
      kind,
      namespaces,
      visibility: () => this.#rights.visibility,
      listener: this,
      onThrow,
    });
  }

  /** Starts to follow the Pods. */
  join(): void {
    const { visibility } = this.#rights;
    if (visibility.type === 'none') this.failed(visibility.fault);
    else this.#pods.join();
  }

  changed(change: MirrorsChange): void {
    if (this.#rights.visibility.type !== 'none') this.#pods.changed(change);
  }

  /**
   * Applies the current rights, and tries refused logs again. Returns false if the caller has lost a right that a followed log needs:
   * nothing is tried again then, and the stream must end.
   */
  reconsider(rights: FollowRights): boolean {
    const before = this.#rights;
    this.#rights = rights;
    const all = [...this.#containers.values()].flatMap((containers) => [...containers.values()]);
    const isLost = ({ target: { namespace } }: FollowedContainer) =>
      before.right.refusal(namespace) === undefined &&
      (rights.right.refusal(namespace) !== undefined || !isWithin(namespace, rights.visibility));
    if (all.some(isLost) || (before.visibility.type !== 'none' && rights.visibility.type === 'none')) return false;
    for (const container of all) container.reconsider();
    if (before.visibility.type === 'none') this.join();
    return true;
  }

  pod(pod: KubernetesObject, since: 'first' | 'later'): void {
    const { followed, cluster } = this.#options;
    const { namespace = '', name } = pod.metadata;
    const isWanted = isWithin(namespace, this.#rights.visibility) && isPodSelected(pod, followed.selection);
    if (!isWanted) this.#abandon(keyOf(pod));
    for (const container of isWanted ? selectedContainers(pod, followed.selection) : []) {
      const containers = this.#containersOf(pod);
      const known = containers.get(container);
      const begin = since === 'first' ? beginOf(followed) : {};
      if (known !== undefined) known.update(pod);
      else containers.set(container, new FollowedContainer(this.#host, { cluster, namespace, pod: name, container }, { pod, begin }));
    }
  }

  gone(pod: KubernetesObject): void {
    const key = keyOf(pod);
    for (const container of this.#containers.get(key)?.values() ?? []) container.gone();
    this.#containers.delete(key);
  }

  all(pods: readonly KubernetesObject[], since: 'first' | 'later'): void {
    const here = new Set(pods.map(keyOf));
    for (const [key, containers] of this.#containers) {
      if (here.has(key)) continue;
      for (const container of containers.values()) container.gone();
      this.#containers.delete(key);
    }
    const { selection } = this.#options.followed;
    // Sorted, so that the order of arrival does not decide which containers are followed first.
    const wanted = pods.filter((pod) => isPodSelected(pod, selection)).sort(byPlace);
    for (const pod of wanted) this.pod(pod, since);
  }

  forgotten(): void {
    for (const key of [...this.#containers.keys()]) this.#abandon(key);
  }

  failed(fault: Fault): void {
    const { outbox, cluster } = this.#options;
    outbox.failed({ cluster, namespace: '', pod: '', container: '' }, fault);
  }

  [Symbol.dispose](): void {
    this.#pods[Symbol.dispose]();
    this.forgotten();
  }

  #containersOf(pod: KubernetesObject): Map<string, FollowedContainer> {
    const key = keyOf(pod);
    const known = this.#containers.get(key) ?? new Map<string, FollowedContainer>();
    this.#containers.set(key, known);
    return known;
  }

  #abandon(key: string): void {
    for (const container of this.#containers.get(key)?.values() ?? []) container.abandon();
    this.#containers.delete(key);
  }
}

function isWithin(namespace: string, visibility: Visibility): boolean {
  return visibility.type === 'all' || (visibility.type === 'namespaces' && visibility.namespaces.has(namespace));
}

function keyOf({ metadata: { uid = '', namespace = '', name } }: KubernetesObject): string {
  return `${uid}/${namespace}/${name}`;
}

function beginOf({ extent: { tailLines, sinceSeconds, since } }: FollowArguments): LogBegin {
  return { tailLines, sinceSeconds, since };
}
