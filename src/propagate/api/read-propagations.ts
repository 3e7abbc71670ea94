import { keyOfKind } from '../../core/kinds.ts';
import { matchesLabelSelector, parseLabelSelector } from '../../core/selectors.ts';
import type { MemberChange } from '../../store/member-objects.ts';
import { hubKinds } from '../hub/hub.ts';
import type { HubStores } from '../hub/hub-stores.ts';
import { shareNameOf } from '../hub/share-name.ts';
import type { HubPage } from '../model/hub-page.ts';
import type { Propagation } from '../model/propagation.ts';
import type { PropagationFilter, PropagationName, PropagationView } from '../model/propagations.ts';
import { pageByName } from './page-by-name.ts';
import { propagationViewOf, shownPhaseOf } from './propagation-view.ts';
import { hubUnavailable } from './ready-hub.ts';

/**
 * Reads one Propagation from the mirror. Undefined if it does not exist.
 *
 * @throws {MusterError} `UNAVAILABLE` if the mirror has no first list yet.
 */
export function readPropagation(stores: HubStores, name: PropagationName): PropagationView | undefined {
  const read = stores.propagations.read(name);
  switch (read.result) {
    case 'unread':
      throw hubUnavailable(read.fault);
    case 'absent':
      return undefined;
    case 'held':
      return propagationViewOf(stores, read.propagation, read.fault === undefined ? [] : [read.fault]);
    default:
      return read satisfies never;
  }
}

interface PageRequest {
  readonly filter: PropagationFilter;
  readonly callerKey: string;
  /** True for a namespace whose Propagations the caller may list. Default: all. */
  readonly isListed?: ((namespace: string) => boolean) | undefined;
}

/**
 * Returns one page of the mirrored Propagations that match the filter, sorted by namespace and name.
 *
 * @throws {MusterError} `BAD_INPUT` for a filter or a cursor that cannot be served.
 */
export function propagationPageOf(stores: HubStores, { filter, callerKey, isListed }: PageRequest): HubPage<PropagationView> {
  const { namespaces, labels, phases } = filter;
  const selector = labels == null ? undefined : parseLabelSelector(labels);
  const page = pageByName(stores.propagations.all() ?? [], {
    filter,
    isListed,
    phaseOf: shownPhaseOf,
    matches: ({ metadata }) => selector === undefined || matchesLabelSelector(selector, metadata.labels),
    sealed: [callerKey, namespaces ?? null, labels ?? null, phases ?? null],
  });
  return { ...page, items: page.items.map((propagation) => propagationViewOf(stores, propagation, [])) };
}

/** A listener for changes of one Propagation and its shares. */
interface Follower {
  readonly name: PropagationName;
  readonly listener: (view: PropagationView | undefined) => void;
}

/**
 * Calls the listener at once with the current view, or with undefined if there is no such Propagation. Until the signal aborts, calls it
 * again in a microtask after each change of the Propagation or its shares. Several changes at once give one call. After a deletion, the
 * listener gets undefined once. While the mirror has no complete list, it is not called.
 *
 * @throws {MusterError} `UNAVAILABLE` if the mirror has no first list yet.
 */
export function followPropagation(stores: HubStores, { name, listener }: Follower, signal: AbortSignal): void {
  const { hub, propagations } = stores;
  let shares: ReadonlySet<string> = new Set();
  let exists = true;
  const show = (view: PropagationView | undefined) => {
    shares = new Set(view === undefined ? [] : shareNamesOf(view.propagation));
    exists = view !== undefined;
    listener(view);
  };
  show(readPropagation(stores, name));
  const concerns = (change: MemberChange): boolean => {
    if (change.cluster !== hub.cluster || change.type === 'cluster') return false;
    const isOne = keyOfKind(change.kind) === keyOfKind(hubKinds.propagation);
    if (!isOne && keyOfKind(change.kind) !== keyOfKind(hubKinds.clusterShare)) return false;
    if (change.type === 'mirror') return true;
    const { objectName } = change;
    return objectName.namespace === name.namespace && (isOne ? objectName.name === name.name : shares.has(objectName.name));
  };
  hub.members.objects.onChange((changes) => {
    if (!changes.some(concerns) || propagations.read(name).result === 'unread') return;
    const view = readPropagation(stores, name);
    if (view !== undefined || exists) show(view);
  }, signal);
}

function shareNamesOf({ metadata, status }: Propagation): readonly string[] {
  return (status.clusters ?? []).map(({ cluster }) => shareNameOf(metadata, cluster));
}
