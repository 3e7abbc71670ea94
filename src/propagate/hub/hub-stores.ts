import type { Hub } from './hub.ts';
import { createPropagationStore, type PropagationStore } from './propagation-store.ts';
import { createRevisionStore, type RevisionStore } from './revision-store.ts';
import { createShareStore, type HubShares } from './share-store.ts';

/** All that is kept on the hub. */
export interface HubStores {
  readonly hub: Hub;
  readonly propagations: PropagationStore;
  readonly shares: HubShares;
  readonly revisions: RevisionStore;
}

/** The stores of a hub. Keeps its mirrors until the signal aborts. */
export function createHubStores(hub: Hub, signal: AbortSignal): HubStores {
  return {
    hub,
    propagations: createPropagationStore(hub, signal),
    shares: createShareStore(hub, signal),
    revisions: createRevisionStore(hub),
  };
}
