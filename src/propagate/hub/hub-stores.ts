import type { Hub } from './hub.ts';
import { createPropagationStore, type PropagationStore } from './propagation-store.ts';
import { createRevisionStore, type RevisionStore } from './revision-store.ts';
import { createShareStore, type HubShares } from './share-store.ts';

/** The hub, and the stores of everything that Muster keeps on it. */
export interface HubStores {
  readonly hub: Hub;
  readonly propagations: PropagationStore;
  readonly shares: HubShares;
  readonly revisions: RevisionStore;
}

/** Creates the stores of a hub. Keeps their mirrors until the signal aborts. */
export function createHubStores(hub: Hub, signal: AbortSignal): HubStores {
  return {
    hub,
    propagations: createPropagationStore(hub, signal),
    shares: createShareStore(hub, signal),
    revisions: createRevisionStore(hub),
  };
}
