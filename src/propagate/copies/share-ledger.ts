import type { Fault } from '../../core/faults.ts';
import { equalJson } from '../../core/json/json-values.ts';
import type { Json } from '../../core/json.ts';
import type { ClusterShare, InventoryEntry } from '../inventory.ts';
import { textOfKey } from '../object-key.ts';
import type { ObjectKey } from '../spec.ts';
import type { CopyWork } from './copies.ts';

/** What saving came to. `stopped`: somebody else saved it, or we may not write. */
export type LedgerSaved = { readonly result: 'saved' | 'stopped' } | { readonly result: 'failed'; readonly fault: Fault };

/** A share while its cluster is worked on: what is known is put down, and saved in one write. */
export interface ShareLedger {
  /** As saved last. */
  readonly saved: ClusterShare;
  get(key: ObjectKey): InventoryEntry | undefined;
  /** Undefined: the entry goes. */
  put(key: ObjectKey, entry: InventoryEntry | undefined): void;
  entries(): readonly InventoryEntry[];
  /** Writes nothing if nothing differs from what was saved last; removes a share that has no entries. One save at a time: who comes meanwhile waits. */
  save(signal: AbortSignal): Promise<LedgerSaved>;
  /** Saves under its version also what does not differ: who takes something back must know that the proof still stands. Of a new share `stopped`. */
  confirm(signal: AbortSignal): Promise<LedgerSaved>;
}

/** Opens the share of the work. New entries stand after the others, in the order they came. */
export function openLedger({ share, shares, mayWrite }: CopyWork): ShareLedger {
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

  /** One after the other. */
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

/** The same as data of the resource. */
function asJson(entries: readonly InventoryEntry[]): Json {
  return JSON.parse(JSON.stringify(entries)) as Json;
}
