import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import { isJsonObject } from '../../core/json.ts';
import { type Log, silentLog } from '../../core/log.ts';
import type { ResourceVersion } from '../../core/names.ts';
import { identityOf, type KubernetesObject } from '../../core/objects.ts';
import type { WorkScheduler } from '../../core/scheduling/work-scheduler.ts';
import { ChangeFeed } from '../feed/change-feed.ts';
import { changeOf, type StoreChange } from '../feed/changes.ts';
import type { ExactParse, ListStage, ListStageOptions, MirrorStore, StoreReader, StoreSnapshot, StoreWriter } from '../mirror-store.ts';
import { compareVersions } from '../versions.ts';
import { StoreContents } from './contents.ts';
import { StoreHistory } from './history.ts';
import { ScopeVersions } from './scope-versions.ts';
import { type ReplacePlan, StagedObjects, shareExactly } from './staged-objects.ts';

interface StoreOptions {
  /**
   * Identifies the history of the cluster. The store reports it as `epoch`. After n lists that came from another history, such as a
   * restored etcd, the store reports `${epoch}+${n}`. While the store mirrors single namespaces, it appends ` narrow`.
   */
  readonly epoch: string;
  readonly clock: Clock;
  /** `metadata` for Secrets and other sensitive kinds. Default: `parsed`, which keeps whole objects. */
  readonly policy?: HoldingPolicy;
  /** Logs readers that throw. Default: no log. */
  readonly log?: Log;
  /** The scheduler in which readers receive changes. Default: a scheduler of this store alone. */
  readonly scheduler?: WorkScheduler;
}

/**
 * Creates the empty store of one kind in one cluster.
 *
 * Every change updates objects, indexes, versions and the queues of readers in one synchronous step. Objects given to the store belong to
 * it. The store may write into an object while storing it. Later no code may change the object. The store has no timers and needs no
 * disposal.
 *
 * The reflector of the kind calls the write methods (`src/watch/reflector/reflector.ts`). Readers then receive the change from
 * `../feed/change-feed.ts`.
 */
export function createStore({ epoch, clock, policy = 'parsed', log = silentLog, scheduler }: StoreOptions): MirrorStore {
  const contents = new StoreContents(clock);
  const scopes = new ScopeVersions();
  const snapshot = (): StoreSnapshot => ({ snapshot: [...objectsOf(contents)], version: scopes.version, epoch: epochOf(state) });
  const state: StoreState = {
    contents,
    scopes,
    history: new StoreHistory(clock),
    feed: new ChangeFeed({ clock, log, snapshot, scheduler }),
    baseEpoch: epoch,
    epoch,
    histories: 0,
    stages: new Set(),
    inSync: false,
    emptied: false,
    gone: false,
  };
  return {
    ...readerOf(state, snapshot),
    ...writerOf(state, policy),
    // A spread copies the current value of a getter, so these getters stay here.
    get size() {
      return contents.objects.size;
    },
    get revision() {
      return contents.revision;
    },
    get bytes() {
      return contents.bytes;
    },
    get version() {
      return scopes.version;
    },
    get epoch() {
      return epochOf(state);
    },
  };
}

interface StoreState {
  readonly contents: StoreContents;
  readonly scopes: ScopeVersions;
  readonly history: StoreHistory;
  readonly feed: ChangeFeed;
  /** The lists that are being received. */
  readonly stages: Set<StagedObjects>;
  readonly baseEpoch: string;
  epoch: string;
  /**
   * Number of lists that came from another history of the cluster, such as a restored etcd. Each of them starts a new epoch, whose name
   * contains this number.
   */
  histories: number;
  /** True if the store is complete, and not known to be behind its cluster. */
  inSync: boolean;
  /** True after the objects were dropped without delete events. The next commit sends `reset`. */
  emptied: boolean;
  gone: boolean;
}

interface IncomingObject {
  readonly object: KubernetesObject;
  readonly exactly: ExactParse;
}

/**
 * Returns the epoch for readers. It differs while the store mirrors single namespaces: a cursor from that time does not cover the other
 * namespaces, so it must be void once all are mirrored.
 */
function epochOf({ epoch, scopes }: StoreState): string {
  return scopes.coversAllNamespaces ? epoch : `${epoch} narrow`;
}

function* objectsOf({ objects }: StoreContents): Iterable<KubernetesObject> {
  for (const { object } of objects.all()) yield object;
}

function readerOf(
  state: StoreState,
  snapshot: () => StoreSnapshot,
): Omit<StoreReader, 'size' | 'revision' | 'bytes' | 'version' | 'epoch'> {
  const { contents, history, scopes, feed } = state;
  return {
    get: (namespace, name) => contents.objects.get(namespace, name)?.object,
    objects: () => objectsOf(contents),
    namespaces: () => contents.objects.namespaces(),
    inNamespace: (namespace) => contents.objects.sorted(namespace),
    lists: (namespaces) => contents.objects.lists(namespaces),
    freeze: () => contents.freeze(),
    countIn: (namespace) => contents.objects.count(namespace),
    indexed: (lookup) => contents.indexes.find(lookup),
    countIndexed: (lookup) => contents.indexes.count(lookup),
    indexedInOrder: (lookup) => contents.indexes.findInOrder(lookup),
    follow(reader, signal) {
      const pull = feed.follow(reader, signal);
      return { ...snapshot(), pull };
    },
    followChanges: (reader, signal) => feed.follow(reader, signal),
    changesSince(epoch, version) {
      return epoch === epochOf(state) && scopes.coversAllNamespaces ? history.since(version) : undefined;
    },
  };
}

function writerOf(state: StoreState, policy: HoldingPolicy): StoreWriter {
  const formOf = (object: KubernetesObject) => heldFormOf(object, policy);
  const incoming = (object: KubernetesObject, exactly: ExactParse) => ({ object: formOf(object), exactly: () => formOf(exactly()) });
  const unlessGone = (write: () => void) => {
    if (!state.gone) write();
  };
  return {
    replace: (options = {}) => stageList(state, options, formOf),
    applied: (object, version, exactly) => unlessGone(() => writeEvent(state, applyTo, { ...incoming(object, exactly), version })),
    deleted: (object, version, exactly) => unlessGone(() => writeEvent(state, deleteFrom, { ...incoming(object, exactly), version })),
    confirmed: (version, namespace) => unlessGone(() => confirm(state, version, namespace)),
    failed(fault) {
      unlessGone(() => {
        state.inSync = false;
        state.feed.failed(fault);
      });
    },
    synced: () => unlessGone(() => markInSync(state)),
    empty: (fault) => unlessGone(() => wipe(state, fault)),
    gone(fault) {
      unlessGone(() => {
        wipe(state);
        state.gone = true;
        state.feed.gone(fault);
      });
    },
  };
}

function stageList(state: StoreState, options: ListStageOptions, formOf: (object: KubernetesObject) => KubernetesObject): ListStage {
  const staged = new StagedObjects({ ...options, contents: state.contents, formOf });
  if (!state.gone) state.stages.add(staged);
  const isOpen = () => state.stages.has(staged);
  return {
    get bytes() {
      return staged.bytes;
    },
    keep: (identity) => isOpen() && staged.keep(identity),
    add(object, exactly) {
      if (isOpen()) staged.add(object, exactly);
    },
    remove(namespace, name) {
      if (isOpen()) staged.remove(namespace, name);
    },
    commit(version) {
      if (state.stages.delete(staged)) commit(state, staged, version);
    },
    discard() {
      state.stages.delete(staged);
    },
  };
}

function commit(state: StoreState, staged: StagedObjects, version: ResourceVersion | undefined): void {
  const { scopes, history, feed } = state;
  const { namespace } = staged;
  const coveredAll = scopes.coversAllNamespaces;
  const held = scopes.versionOf(namespace);
  const isFirst = held === undefined;
  const isOtherHistory = held !== undefined && version !== undefined && (compareVersions(version, held) ?? 0) < 0;
  const plan = staged.plan(version);
  // A first list without readers needs no events.
  const changes = feed.hasReaders || !isFirst ? carryOut(state.contents, plan, version) : fill(state.contents, plan);
  scopes.committed(namespace, version);
  if (isOtherHistory) {
    state.histories += 1;
    state.epoch = `${state.baseEpoch}+${state.histories}`;
  }
  // The history records nothing while single namespaces are mirrored. Their watches may have been ahead of this list of all namespaces, so
  // no reader can resume at its version. The history begins with the first event after it.
  if (!coveredAll || !scopes.coversAllNamespaces) history.restart(undefined);
  else if (isFirst || isOtherHistory) history.restart(version);
  else history.add(changes, version, 'listed');
  if (state.emptied) feed.reset();
  else feed.replaced(changes);
  state.emptied = false;
  if (namespace === undefined) markInSync(state);
}

/** Changes the contents as planned, and returns the changes for readers. Only the last change carries the version of the list. */
function carryOut(
  contents: StoreContents,
  { deletions, upserts }: ReplacePlan,
  version: ResourceVersion | undefined,
): readonly StoreChange[] {
  const count = deletions.length + upserts.length;
  const changes: StoreChange[] = [];
  const versionHere = () => (changes.length === count - 1 ? version : undefined);
  for (const object of deletions) {
    const { namespace, name } = identityOf(object);
    const bytes = contents.remove(namespace, name)?.ownBytes ?? 0;
    changes.push(changeOf({ type: 'deleted', object, before: object, proof: 'absence', version: versionHere() }, bytes));
  }
  for (const { object, before, weight } of upserts) {
    contents.put(object, weight);
    changes.push(changeOf({ type: 'applied', object, before, version: versionHere() }, weight.own));
  }
  return changes;
}

/** Changes the contents as planned, and returns no changes. For the first list of a store without readers, which needs no events. */
function fill(contents: StoreContents, { deletions, upserts }: ReplacePlan): readonly StoreChange[] {
  for (const { metadata } of deletions) contents.remove(metadata.namespace ?? '', metadata.name);
  for (const { object, weight } of upserts) contents.put(object, weight);
  return [];
}

function applyTo(state: StoreState, incoming: IncomingObject, version: ResourceVersion | undefined): readonly StoreChange[] {
  const { contents, stages } = state;
  const { namespace, name, uid } = identityOf(incoming.object);
  const before = contents.objects.get(namespace, name)?.object;
  const { object, weight } = shareExactly(before ?? contents.siblingOf(incoming.object), incoming);
  for (const staged of stages) staged.noteEvent(namespace, name, version);
  if (object === before) return [];
  const replacesOther = before !== undefined && isOther(before, uid);
  const changes: StoreChange[] = [];
  if (replacesOther) {
    const bytes = contents.remove(namespace, name)?.ownBytes ?? 0;
    changes.push(changeOf({ type: 'deleted', object: before, before, proof: 'event', version: undefined }, bytes));
  }
  contents.put(object, weight);
  changes.push(changeOf({ type: 'applied', object, before: replacesOther ? undefined : before, version }, weight.own));
  return changes;
}

function deleteFrom(state: StoreState, incoming: IncomingObject, version: ResourceVersion | undefined): readonly StoreChange[] {
  const { contents, stages } = state;
  const { namespace, name, uid } = identityOf(incoming.object);
  const before = contents.objects.get(namespace, name)?.object;
  for (const staged of stages) staged.noteEvent(namespace, name, version);
  // If another object has the name already, the deleted one was removed when that object came.
  if (before === undefined || isOther(before, uid)) return [];
  const { object, weight } = shareExactly(before, incoming);
  contents.remove(namespace, name);
  return [changeOf({ type: 'deleted', object, before, proof: 'event', version }, weight.own)];
}

/**
 * Writes one watch event: first the objects, then the versions, then history and readers. How readers receive the changes is in
 * `../feed/change-feed.ts`.
 */
function writeEvent(
  state: StoreState,
  write: typeof applyTo,
  { object, exactly, version }: IncomingObject & { readonly version: ResourceVersion | undefined },
): void {
  const { scopes, history, feed } = state;
  const changes = write(state, { object, exactly }, version);
  scopes.advance(object.metadata.namespace ?? '', version);
  if (changes.length > 0) {
    if (scopes.coversAllNamespaces) history.add(changes, version, 'streamed');
    feed.changed(changes);
  } else if (version !== undefined && scopes.coversAllNamespaces) history.advance(version);
}

function confirm({ scopes, history, feed }: StoreState, version: ResourceVersion, namespace: string | undefined): void {
  scopes.advance(namespace ?? '', version);
  if (scopes.coversAllNamespaces) history.advance(version);
  feed.confirmed(version);
}

function markInSync(state: StoreState): void {
  if (state.inSync) return;
  state.inSync = true;
  state.feed.synced(state.scopes.version);
}

/**
 * Drops all objects, versions and the history, and marks the store as emptied. Lists that are being received are dropped too, because they
 * may rely on dropped objects. With a fault, readers receive `failed`.
 */
function wipe(state: StoreState, fault?: Fault): void {
  state.stages.clear();
  state.contents.clear();
  state.scopes.clear();
  state.history.restart(undefined);
  state.inSync = false;
  state.emptied = true;
  if (fault !== undefined) state.feed.failed(fault);
}

function isOther(held: KubernetesObject, uid: string): boolean {
  return uid !== '' && held.metadata.uid !== undefined && held.metadata.uid !== '' && held.metadata.uid !== uid;
}

/**
 * The part of each object that a store keeps. `parsed`: everything that the server sends, without `managedFields`. `metadata`: the metadata
 * alone.
 */
type HoldingPolicy = 'parsed' | 'metadata';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Returns the object in the form that a mirror holds: without `managedFields`. The policy `metadata` also removes everything except the
 * metadata, and kubectl's last-applied-configuration, which contains the whole object with the data of a Secret.
 *
 * Returns the same object if nothing has to be removed. Never writes into it.
 */
function heldFormOf(object: KubernetesObject, policy: HoldingPolicy): KubernetesObject {
  if (policy === 'metadata') return metadataOf(object);
  if (!Object.hasOwn(object.metadata, 'managedFields')) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function metadataOf({ apiVersion, kind, metadata }: KubernetesObject): KubernetesObject {
  const { managedFields: _, annotations, ...rest } = metadata;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
    metadata: annotations == null ? rest : { ...rest, annotations: withoutLastApplied(annotations) },
  };
}

function withoutLastApplied(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (!isJsonObject(annotations) || !Object.hasOwn(annotations, lastApplied)) return annotations;
  const { [lastApplied]: _, ...others } = annotations;
  return others;
}
