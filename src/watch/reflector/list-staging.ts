import { decodeItem, identityInBytes } from '../../cluster/decoding/decode.ts';
import type { ResourceVersion } from '../../core/names.ts';
import type { ListStage, StoreWriter } from '../../store/mirror-store.ts';
import type { WatchObjectEvent } from './reflector-state.ts';

/** Decodes the items of one reflector's list and stages them in the store. */
export interface ListStaging {
  /** Number of objects staged so far. */
  readonly size: number;
  /** Estimated bytes of memory of the objects staged so far, without parts that were in memory before. */
  readonly bytes: number;
  /** Stages items of a list. Returns undefined if all items could be read. If not, returns the reason, and the list must be discarded. */
  stage(items: readonly Uint8Array[]): string | undefined;
  /** Stages initial events of a WatchList. */
  stageEvents(events: readonly WatchObjectEvent[]): void;
  /** Commits the complete list. An empty list can be committed without staging anything. */
  commit(version: ResourceVersion | undefined): void;
  /** Discards the staged objects, if there are any. */
  discard(): void;
}

interface StagingOptions {
  readonly store: StoreWriter;
  readonly namespace?: string;
  /**
   * True if the first committed list is compared with the store by content. False: by uid and version, like all later lists. Default:
   * false.
   */
  readonly byContent?: boolean;
}

/** Creates the staging. Items whose uid and version the store holds already are kept without parsing them. */
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
    get bytes() {
      return open?.bytes ?? 0;
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
    stageEvents(events) {
      const stage = stageOpen();
      for (const event of events) {
        if (event.type === 'applied') {
          size++;
          stage.add(event.object, event.exactly);
        } else {
          size--;
          stage.remove(event.object.metadata.namespace ?? '', event.object.metadata.name);
        }
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
