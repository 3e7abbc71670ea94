import type { Fault } from '../../core/faults.ts';
import { equalJson } from '../../core/json/json-values.ts';
import type { Json } from '../../core/json.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import type { ClusterShare, InventoryEntry } from '../model/inventory.ts';
import type { CopyWork } from '../plan/copies/copy-work.ts';

/** The result of saving. `stopped`: another process saved the share, or this gateway may not write. */
export type LedgerSaved = { readonly result: 'saved' | 'stopped' } | { readonly result: 'failed'; readonly fault: Fault };

/** The share of a cluster while copies are written or removed there. It collects changes of entries, and `save` sends them in one write. */
export interface ShareLedger {
  /** The share as last saved. */
  readonly saved: ClusterShare;
  get(key: ObjectKey): InventoryEntry | undefined;
  /** Sets the entry of an object. Undefined removes the entry. */
  put(key: ObjectKey, entry: InventoryEntry | undefined): void;
  entries(): readonly InventoryEntry[];
  /**
   * Saves the share. Writes nothing if its entries have not changed since the last save. Removes a share without entries. Concurrent calls
   * run one after another.
   */
  save(signal: AbortSignal): Promise<LedgerSaved>;
  /**
   * Saves the share under its version even if nothing changed. This proves that the share on the hub has not changed since it was read. A
   * removal of copies needs the proof. Returns `stopped` if the share has changed, or if the hub does not have it yet.
   */
  confirm(signal: AbortSignal): Promise<LedgerSaved>;
}

/** Creates the ledger of a share. New entries follow the existing ones, in the order of `put`. */
export function createShareLedger({ share, shares, mayWrite }: CopyWork): ShareLedger {
  const entries = new Map(share.entries.map((entry) => [textOfKey(entry.key), entry]));
  let saved = share;
  let last: Promise<unknown> = Promise.resolve();

  async function remove(signal: AbortSignal): Promise<LedgerSaved> {
    const answer = await shares.remove(saved, signal);
    if (answer.result === 'failed') return answer;
    if (answer.result === 'conflict') return { result: 'stopped' };
    const { version: _version, uid: _uid, ...rest } = saved;
    saved = { ...rest, entries: [] };
    return { result: 'saved' };
  }

  async function saveNow(signal: AbortSignal): Promise<LedgerSaved> {
    const next = [...entries.values()];
    const isEmpty = next.length === 0;
    if (isEmpty ? saved.version === undefined : equalJson(asJson(next), asJson(saved.entries))) return { result: 'saved' };
    if (signal.aborted || !mayWrite()) return { result: 'stopped' };
    return isEmpty ? await remove(signal) : await write(next, signal);
  }

  async function confirmNow(signal: AbortSignal): Promise<LedgerSaved> {
    if (signal.aborted || !mayWrite() || saved.version === undefined) return { result: 'stopped' };
    return await write([...entries.values()], signal);
  }

  async function write(next: readonly InventoryEntry[], signal: AbortSignal): Promise<LedgerSaved> {
    const answer = await shares.save({ ...saved, entries: next }, signal);
    if (answer.result === 'failed') return answer;
    if (answer.result === 'conflict') return { result: 'stopped' };
    saved = answer.share;
    return { result: 'saved' };
  }

  /** Runs the save after all earlier saves have ended. Resolves with its result. */
  function queued(work: () => Promise<LedgerSaved>): Promise<LedgerSaved> {
    const saving = last.then(work);
    last = saving.catch(() => undefined);
    return saving;
  }

  return {
    get saved() {
      return saved;
    },
    get: (key) => entries.get(textOfKey(key)),
    put(key, entry) {
      if (entry === undefined) entries.delete(textOfKey(key));
      else entries.set(textOfKey(key), entry);
    },
    entries: () => [...entries.values()],
    save: (signal) => queued(() => saveNow(signal)),
    confirm: (signal) => queued(() => confirmNow(signal)),
  };
}

/** Returns the entries as plain JSON, like in the resource. */
function asJson(entries: readonly InventoryEntry[]): Json {
  return JSON.parse(JSON.stringify(entries)) as Json;
}
