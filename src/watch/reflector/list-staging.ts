import { decodeItem, identityInBytes } from '../../cluster/decoding/decode.ts';
import type { ResourceVersion } from '../../core/names.ts';
import type { ListStage, StoreWriter } from '../../store/mirror-store.ts';
import type { WatchObjectEvent } from './reflector-state.ts';

/** A list in the making, of one reflector. */
export interface ListStaging {
  /** Objects taken in so far. */
  readonly size: number;
  /** Takes in items of a list. Gives the reason if one could not be read: then the list must be discarded. */
  stage(items: readonly Uint8Array[]): string | undefined;
  /** Takes in one of the initial events of a WatchList. */
  stageEvent(event: WatchObjectEvent): void;
  /** The list is whole. An empty one needs nothing staged. */
  commit(version: ResourceVersion | undefined): void;
  /** Forgets what was staged, if anything was. */
  discard(): void;
}

interface StagingOptions {
  readonly store: StoreWriter;
  readonly namespace?: string;
  /** For the first list that is committed; later ones go by uid and version. */
  readonly byContent?: boolean;
}

/** Items whose uid and version the store already has are kept without being parsed. */
export function createListStaging({ store, namespace, byContent = false }: StagingOptions): ListStaging {
  let comparing = byContent;
  let open: ListStage | undefined;
  let size = 0;

  function stageOpen(): ListStage {
    open ??= store.replace({ namespace, ...(comparing ? { byContent: true } : {}) });
    return open;
  }

  function isHeld(stage: ListStage, item: Uint8Array): boolean {
    if (comparing) return false;
    const identity = identityInBytes(item);
    return identity !== undefined && identity.uid !== '' && identity.version !== '' && stage.keep(identity);
  }

  return {
    get size() {
      return size;
    },
    stage(items) {
      const stage = stageOpen();
      for (const item of items) {
        size++;
        if (isHeld(stage, item)) continue;
        const decoded = decodeItem(item);
        if (decoded.type === 'unreadable') return decoded.reason;
        stage.add(decoded.object, decoded.exactly);
      }
      return undefined;
    },
    stageEvent(event) {
      const stage = stageOpen();
      if (event.type === 'applied') {
        size++;
        stage.add(event.object, event.exactly);
      } else {
        size--;
        stage.remove(event.object.metadata.namespace ?? '', event.object.metadata.name);
      }
    },
    commit(version) {
      const stage = stageOpen();
      [open, size, comparing] = [undefined, 0, false];
      stage.commit(version);
    },
    discard() {
      const stage = open;
      [open, size] = [undefined, 0];
      stage?.discard();
    },
  };
}
