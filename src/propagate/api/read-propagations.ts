import { createHash } from 'node:crypto';
import { boundedList } from '../../core/bounded-list.ts';
import { keyOfKind } from '../../core/kinds.ts';
import { matchesLabelSelector, parseLabelSelector } from '../../core/selectors.ts';
import type { MemberChange } from '../../store/member-objects.ts';
import { hubKinds } from '../hub/hub.ts';
import type { HubStores } from '../hub/hub-stores.ts';
import { shareNameOf } from '../hub/share-name.ts';
import type { Propagation } from '../model/propagation.ts';
import type { PropagationFilter, PropagationName, PropagationPage, PropagationView } from '../model/propagations.ts';
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

/**
 * Returns one page of the mirrored Propagations that match the filter, sorted by namespace and name.
 *
 * @throws {MusterError} `BAD_INPUT` for a filter or a cursor that cannot be served.
 */
export function propagationPageOf(stores: HubStores, filter: ListedFilter, callerKey: string): PropagationPage {
  const page = pageByName((stores.propagations.all() ?? []).filter(filterOf(filter)), { ...filter, seal: sealOf(filter, callerKey) });
  return { ...page, items: page.items.map((propagation) => propagationViewOf(stores, propagation, [])) };
}

/** A filter, and a test of the namespaces whose Propagations the caller may list. Default: all. */
interface ListedFilter extends PropagationFilter {
  readonly isListed?: ((namespace: string) => boolean) | undefined;
}

function filterOf({ namespaces, labels, phases, isListed }: ListedFilter): (propagation: Propagation) => boolean {
  const selector = labels === undefined || labels === null ? undefined : parseLabelSelector(labels);
  const inNamespaces = namespaces == null ? undefined : new Set(boundedList('namespaces', namespaces));
  boundedList('phases', phases);
  return (propagation) =>
    (inNamespaces?.has(propagation.metadata.namespace) ?? true) &&
    (isListed?.(propagation.metadata.namespace) ?? true) &&
    (phases?.includes(shownPhaseOf(propagation)) ?? true) &&
    (selector === undefined || matchesLabelSelector(selector, propagation.metadata.labels));
}

/** Returns a hash of the filter and the caller. A cursor is valid only for the same filter and caller. */
function sealOf({ namespaces, labels, phases }: PropagationFilter, callerKey: string): string {
  const text = JSON.stringify([callerKey, namespaces ?? null, labels ?? null, phases ?? null]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
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
