import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import { isJsonObject } from '../../core/json.ts';
import { type Log, silentLog } from '../../core/log.ts';
import type { ResourceVersion } from '../../core/names.ts';
import { identityOf, type KubernetesObject } from '../../core/objects.ts';
import type { WorkScheduler } from '../../core/scheduling/work-scheduler.ts';
import { ChangeFeed } from '../feed/change-feed.ts';
import { changeOf, type StoreChange } from '../feed/changes.ts';
import type { ExactParse, ListStage, ListStageOptions, MirrorStore, StoreReader, StoreSnapshot } from '../mirror-store.ts';
import { compareVersions } from '../versions.ts';
import { createStoreContents, type StoreContents } from './contents.ts';
import { createStoreHistory, type StoreHistory } from './history.ts';
import { createScopeVersions, type ScopeVersions } from './scope-versions.ts';
import { createStagedObjects, type ReplacePlan, type StagedObjects, shareExactly } from './staged-objects.ts';

interface StoreOptions {
  /** What tells this history of the cluster from others. The store's own `epoch` is this, and after n lists of an older history `this+n`; ` narrow` follows while single namespaces are mirrored. */
  readonly epoch: string;
  readonly clock: Clock;
  /** `parsed` by default: whole objects. `metadata` for Secrets and other sensitive kinds. */
  readonly policy?: HoldingPolicy;
  /** Told of readers that throw; nothing by default. */
  readonly log?: Log;
  /** The row in which readers are told what changes; one of its own by default. */
  readonly scheduler?: WorkScheduler;
}

/**
 * The mirror of one kind in one cluster, empty.
 *
 * Every change is made in one synchronous turn, indexes, versions and the readers' queues with it. Objects given to it belong to it: they are
 * written to until they are held, and by nobody after that. It has neither timers nor anything else to be ended.
 */
export function createStore({ epoch, clock, policy = 'parsed', log = silentLog, scheduler }: StoreOptions): MirrorStore {
  const contents = createStoreContents(clock);
  const scopes = createScopeVersions();
  const history = createStoreHistory(clock);
  const snapshot = (): StoreSnapshot => ({ snapshot: [...objectsOf(contents)], version: scopes.version, epoch: epochOf(mirror) });
  const feed = new ChangeFeed({ clock, log, snapshot, scheduler });
  const mirror: Mirror = {
    contents,
    scopes,
    history,
    feed,
    baseEpoch: epoch,
    epoch,
    histories: 0,
    stagings: new Set(),
    true: false,
    emptied: false,
    gone: false,
  };
  const formOf = (object: KubernetesObject) => heldFormOf(object, policy);
  const incoming = (object: KubernetesObject, exactly: ExactParse) => ({ object: formOf(object), exactly: () => formOf(exactly()) });
  const write = (action: () => void) => {
    if (!mirror.gone) action();
  };

  return {
    ...readerOf(mirror, snapshot),
    // A spread copies what a getter gives now: these stay getters.
    get size() {
      return contents.objects.size;
    },
    get bytes() {
      return contents.bytes;
    },
    get version() {
      return scopes.version;
    },
    get epoch() {
      return epochOf(mirror);
    },
    replace: (options = {}) => stageOn(mirror, options, formOf),
    applied: (object, version, exactly) => write(() => take(mirror, applyTo, { ...incoming(object, exactly), version })),
    deleted: (object, version, exactly) => write(() => take(mirror, deleteFrom, { ...incoming(object, exactly), version })),
    confirmed: (version, namespace) => write(() => confirm(mirror, version, namespace)),
    failed(fault) {
      write(() => {
        mirror.true = false;
        feed.failed(fault);
      });
    },
    synced: () => write(() => declareTrue(mirror)),
    empty: (fault) => write(() => wipe(mirror, fault)),
    gone(fault) {
      write(() => {
        wipe(mirror);
        mirror.gone = true;
        feed.gone(fault);
      });
    },
  };
}

interface Mirror {
  readonly contents: StoreContents;
  readonly scopes: ScopeVersions;
  readonly history: StoreHistory;
  readonly feed: ChangeFeed;
  readonly stagings: Set<StagedObjects>;
  readonly baseEpoch: string;
  epoch: string;
  /** How many lists of an older history there were. */
  histories: number;
  /** Whole, and not known to be behind. */
  true: boolean;
  /** Emptied without a word: what readers know is void with the next list. */
  emptied: boolean;
  gone: boolean;
}

interface Incoming {
  readonly object: KubernetesObject;
  readonly exactly: ExactParse;
}

/** A cursor made while single namespaces were mirrored knows nothing of the others, and the other way round. */
function epochOf({ epoch, scopes }: Mirror): string {
  return scopes.coversAllNamespaces ? epoch : `${epoch} narrow`;
}

function* objectsOf({ objects: shelves }: StoreContents): Iterable<KubernetesObject> {
  for (const { object } of shelves.all()) yield object;
}

function readerOf(mirror: Mirror, snapshot: () => StoreSnapshot): Omit<StoreReader, 'size' | 'bytes' | 'version' | 'epoch'> {
  const { contents, history, scopes, feed } = mirror;
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
    followChanges: feed.follow,
    changesSince(epoch, version) {
      return epoch === epochOf(mirror) && scopes.coversAllNamespaces ? history.since(version) : undefined;
    },
  };
}

function stageOn(mirror: Mirror, options: ListStageOptions, formOf: (object: KubernetesObject) => KubernetesObject): ListStage {
  const staging = createStagedObjects({ ...options, contents: mirror.contents, formOf });
  if (!mirror.gone) mirror.stagings.add(staging);
  const open = () => mirror.stagings.has(staging);
  return {
    keep: (identity) => open() && staging.keep(identity),
    add(object, exactly) {
      if (open()) staging.add(object, exactly);
    },
    remove(namespace, name) {
      if (open()) staging.remove(namespace, name);
    },
    commit(version) {
      if (mirror.stagings.delete(staging)) commit(mirror, staging, version);
    },
    discard() {
      mirror.stagings.delete(staging);
    },
  };
}

function commit(mirror: Mirror, staging: StagedObjects, version: ResourceVersion | undefined): void {
  const { scopes, history, feed } = mirror;
  const { namespace } = staging;
  const wasWhole = scopes.coversAllNamespaces;
  const held = scopes.versionOf(namespace);
  const first = held === undefined;
  const otherHistory = held !== undefined && version !== undefined && (compareVersions(version, held) ?? 0) < 0;
  const plan = staging.plan(version);
  // A first list without readers is nobody's news.
  const changes = feed.hasReaders || !first ? carryOut(mirror.contents, plan, version) : fill(mirror.contents, plan);
  scopes.committed(namespace, version);
  if (otherHistory) {
    mirror.histories += 1;
    mirror.epoch = `${mirror.baseEpoch}+${mirror.histories}`;
  }
  // Events of single namespaces, which no history holds, may have told of later versions than a list of everything: it begins after that.
  if (!wasWhole || !scopes.coversAllNamespaces) history.restart(undefined);
  else if (first || otherHistory) history.restart(version);
  else history.add(changes, version, 'listed');
  if (mirror.emptied) feed.reset();
  else feed.replaced(changes);
  mirror.emptied = false;
  if (namespace === undefined) declareTrue(mirror);
}

function carryOut(
  contents: StoreContents,
  { deletions: leaving, upserts: coming }: ReplacePlan,
  version: ResourceVersion | undefined,
): readonly StoreChange[] {
  const last = leaving.length + coming.length;
  const changes: StoreChange[] = [];
  const versionHere = () => (changes.length === last - 1 ? version : undefined);
  for (const object of leaving) {
    const { namespace, name } = identityOf(object);
    const bytes = contents.remove(namespace, name)?.ownBytes ?? 0;
    changes.push(changeOf({ type: 'deleted', object, before: object, proof: 'absence', version: versionHere() }, bytes));
  }
  for (const { object, before, weight } of coming) {
    contents.put(object, weight);
    changes.push(changeOf({ type: 'applied', object, before, version: versionHere() }, weight.own));
  }
  return changes;
}

/** As `carryOut` where there is nobody to tell. */
function fill(contents: StoreContents, { deletions: leaving, upserts: coming }: ReplacePlan): readonly StoreChange[] {
  for (const { metadata } of leaving) contents.remove(metadata.namespace ?? '', metadata.name);
  for (const { object, weight } of coming) contents.put(object, weight);
  return [];
}

function applyTo(mirror: Mirror, incoming: Incoming, version: ResourceVersion | undefined): readonly StoreChange[] {
  const { contents, stagings } = mirror;
  const { namespace, name, uid } = identityOf(incoming.object);
  const before = contents.objects.get(namespace, name)?.object;
  const { object, weight } = shareExactly(before ?? contents.siblingOf(incoming.object), incoming);
  for (const staging of stagings) staging.noteEvent(namespace, name, version);
  if (object === before) return [];
  const other = before !== undefined && isOther(before, uid);
  const changes: StoreChange[] = [];
  if (other) {
    const bytes = contents.remove(namespace, name)?.ownBytes ?? 0;
    changes.push(changeOf({ type: 'deleted', object: before, before, proof: 'event', version: undefined }, bytes));
  }
  contents.put(object, weight);
  changes.push(changeOf({ type: 'applied', object, before: other ? undefined : before, version }, weight.own));
  return changes;
}

function deleteFrom(mirror: Mirror, incoming: Incoming, version: ResourceVersion | undefined): readonly StoreChange[] {
  const { contents, stagings } = mirror;
  const { namespace, name, uid } = identityOf(incoming.object);
  const before = contents.objects.get(namespace, name)?.object;
  for (const staging of stagings) staging.noteEvent(namespace, name, version);
  // Another one has the name already: this is the end of one that we know to be gone.
  if (before === undefined || isOther(before, uid)) return [];
  const { object, weight } = shareExactly(before, incoming);
  contents.remove(namespace, name);
  return [changeOf({ type: 'deleted', object, before, proof: 'event', version }, weight.own)];
}

/** One event of the cluster: what it changes, then the versions, then history and readers. */
function take(
  mirror: Mirror,
  change: typeof applyTo,
  { object, exactly, version }: Incoming & { readonly version: ResourceVersion | undefined },
): void {
  const { scopes, history, feed } = mirror;
  const changes = change(mirror, { object, exactly }, version);
  scopes.advance(object.metadata.namespace ?? '', version);
  if (changes.length > 0) {
    if (scopes.coversAllNamespaces) history.add(changes, version, 'streamed');
    feed.changed(changes);
  } else if (version !== undefined && scopes.coversAllNamespaces) history.advance(version);
}

function confirm({ scopes, history, feed }: Mirror, version: ResourceVersion, namespace: string | undefined): void {
  scopes.advance(namespace ?? '', version);
  if (scopes.coversAllNamespaces) history.advance(version);
  feed.confirmed(version);
}

function declareTrue(mirror: Mirror): void {
  if (mirror.true) return;
  mirror.true = true;
  mirror.feed.synced(mirror.scopes.version);
}

/** Forgets all that is held, and lists in the making with it: they may have kept what is no longer here. */
function wipe(mirror: Mirror, fault?: Fault): void {
  mirror.stagings.clear();
  mirror.contents.clear();
  mirror.scopes.clear();
  mirror.history.restart(undefined);
  mirror.true = false;
  mirror.emptied = true;
  if (fault !== undefined) mirror.feed.failed(fault);
}

function isOther(held: KubernetesObject, uid: string): boolean {
  return uid !== '' && held.metadata.uid !== undefined && held.metadata.uid !== '' && held.metadata.uid !== uid;
}

/** What is kept of the objects of one kind: all that is served, or their metadata alone. */
type HoldingPolicy = 'parsed' | 'metadata';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * The object as a mirror holds it: without `managedFields`. By the policy `metadata` without anything but metadata either, and without
 * kubectl's last-applied-configuration, which holds the whole object, a Secret's data with it.
 *
 * The object itself where nothing has to go; it is never written to.
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
