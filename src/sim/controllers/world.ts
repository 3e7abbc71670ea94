import { createHash, randomUUID } from 'node:crypto';
import type { V1Condition } from '@kubernetes/client-node';
import type { Clock } from '../../core/clock.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { KubernetesObject, OwnerReference } from '../../core/objects.ts';
import type { Stored } from '../../core/stored.ts';
import type { EmbeddedCluster } from '../kinds/embedded-cluster.ts';
import { type ControlledKind, type ControlledKinds, type ControllerView, parseGroupKind } from './controller-view.ts';
import { RoundTimers } from './round-timers.ts';

/** An occurrence that is stored as an Event. */
export interface ReportedEvent {
  readonly to: KubernetesObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** The component that reports the event: `kubelet`, `deployment-controller`. */
  readonly from: string;
}

/** The view, the clock and the writes that controllers use. */
export interface World {
  readonly view: ControllerView;
  readonly nowMs: number;
  /** Creates the object, or replaces it. */
  put(object: KubernetesObject): void;
  remove(kind: ControlledKind, object: KubernetesObject): void;
  /** Marks a Pod as terminating. The simulated kubelet removes it a moment later. */
  terminate(object: KubernetesObject): void;
  record(event: ReportedEvent): void;
  /**
   * Starts a timer for the key with a random time between `minMs` and `maxMs`, and returns false. Returns true once when the time has
   * elapsed, and starts again. A timer is forgotten if a round does not query it. In fast forward, always returns true.
   */
  hasElapsed(key: string, minMs: number, maxMs: number): boolean;
  /** Returns the creation time of an object that the owner makes now. In fast forward it is a random time after the owner's creation. */
  creationTimeFor(owner: KubernetesObject): string;
  /** True while the past of a new cluster is simulated: every wait has already elapsed. */
  readonly isFastForward: boolean;
  /** Returns a random number in [0, 1). */
  random(): number;
}

export interface WorldControl extends World {
  /** Begins a round and reads the clock. */
  begin(): void;
  /** Ends a round and forgets the timers that it did not query. */
  end(): void;
  /** True if a timer that the last round queried has elapsed. */
  isDue(): boolean;
  isFastForward: boolean;
  nowMs: number;
}

export interface WorldOptions {
  readonly cluster: EmbeddedCluster;
  readonly view: ControllerView;
  readonly clock: Clock;
  readonly record: (event: ReportedEvent, world: World) => void;
}

/**
 * Creates the world in which the simulated controllers run. A round runs each controller once. `nowMs` changes only when a round begins, so
 * every controller of a round sees the same time.
 */
export function createWorld({ cluster, view, clock, record }: WorldOptions): WorldControl {
  const agenda = new RoundTimers(clock);
  const world: WorldControl = {
    view,
    nowMs: clock.now(),
    isFastForward: false,
    put(object) {
      if (world.isFastForward) view.draft(drafted(object, world.nowMs));
      else cluster.put(withoutGeneration(object));
    },
    remove(kind, object) {
      if (world.isFastForward) view.undraft(kind, object);
      else cluster.remove(parseGroupKind(kind), object.metadata.name, object.metadata.namespace);
    },
    terminate(object) {
      if (object.metadata.deletionTimestamp !== undefined) return;
      const metadata = { ...object.metadata, deletionTimestamp: kubernetesTime(world.nowMs), deletionGracePeriodSeconds: 30 };
      world.put({ ...object, metadata });
    },
    record: (event) => record(event, world),
    hasElapsed: (key, minMs, maxMs) => world.isFastForward || agenda.hasElapsed(key, minMs, maxMs),
    creationTimeFor: (owner) => kubernetesTime(world.nowMs - (world.isFastForward ? clock.random() ** 2 * ageOf(owner, world.nowMs) : 0)),
    random: () => clock.random(),
    begin() {
      world.nowMs = clock.now();
      agenda.begin();
    },
    end: () => agenda.end(),
    isDue: () => agenda.isDue(),
  };
  return world;
}

function ageOf({ metadata }: KubernetesObject, nowMs: number): number {
  const bornMs = Date.parse(String(metadata.creationTimestamp));
  return Number.isNaN(bornMs) ? 0 : Math.max(0, nowMs - bornMs);
}

/** Returns the object with the metadata that a cluster sets on creation. */
function drafted(object: KubernetesObject, nowMs: number): KubernetesObject {
  const { uid = randomUUID(), creationTimestamp = kubernetesTime(nowMs), generation = 1 } = object.metadata;
  const isCounted = object.spec !== undefined && object.kind !== 'Node' && object.kind !== 'Service' && object.kind !== 'Lease';
  return { ...object, metadata: { ...object.metadata, uid, creationTimestamp, ...(isCounted ? { generation } : {}) } };
}

/** Removes the generation of an object that is written back: the cluster then counts the generation itself. */
function withoutGeneration(object: KubernetesObject): KubernetesObject {
  const { generation: _generation, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Returns a controller that reconciles each object of the kind, except terminating ones. */
export function controlEach<Kind extends ControlledKind>(kind: Kind, reconcile: (world: World, object: ControlledKinds[Kind]) => void) {
  return (world: World): void => {
    for (const object of [...world.view.objects(kind)]) if (object.metadata.deletionTimestamp === undefined) reconcile(world, object);
  };
}

/** Returns the time to the second, as Kubernetes writes it. */
export function kubernetesTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Returns the owner reference to the controller of an object. */
export function controllerReference({ apiVersion = '', kind = '', metadata }: KubernetesObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true, blockOwnerDeletion: true };
}

/** Returns the object with that status. Undefined if the status is the same. */
export function changedStatus(object: KubernetesObject, status: JsonObject): KubernetesObject | undefined {
  return isSame(object.status, status) ? undefined : { ...object, status };
}

/** True for equal JSON. A member that is undefined counts as absent. */
export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return canonicalJson(a ?? null) === canonicalJson(b ?? null);
}

/** Letters and digits of generated names. Kubernetes leaves out vowels, so that no words appear. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Returns a random suffix for a name. */
export function suffix(world: Pick<World, 'random'>, length = 5): string {
  return Array.from({ length }, () => alphabet[Math.floor(world.random() * alphabet.length)]).join('');
}

const hashes = new WeakMap<JsonObject, string>();

/** Returns ten characters that identify a value. Caches the hash of an object, because objects never change. */
export function hashOf(value: Json | undefined): string {
  const known = isJsonObject(value) ? hashes.get(value) : undefined;
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(JSON.stringify(value)).digest();
  const hash = Array.from(digest.subarray(0, 10), (byte) => alphabet[byte % alphabet.length]).join('');
  if (isJsonObject(value)) hashes.set(value, hash);
  return hash;
}

/** Returns the SHA-256 hash of a text. It looks like the digest of an image. */
export function imageDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

type Condition = Stored<V1Condition>;

export interface ConditionChange {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  /** Name of a second time, which is set on every change of the condition, such as `lastUpdateTime` of Deployments. Default: none. */
  readonly updatedKey?: string;
}

/** Returns the conditions with one of them replaced. Its times change only if the condition changes. */
export function withCondition(conditions: readonly Condition[], change: ConditionChange, atMs: number): readonly Condition[] {
  const { updatedKey, ...next } = change;
  const before = conditions.find(({ type }) => type === change.type);
  const isUnchanged = before !== undefined && (['status', 'reason', 'message'] as const).every((key) => before[key] === next[key]);
  if (isUnchanged) return conditions;
  const moved = before?.status === change.status ? before.lastTransitionTime : kubernetesTime(atMs);
  const updated = updatedKey === undefined ? {} : { [updatedKey]: kubernetesTime(atMs) };
  const condition = { ...next, ...updated, lastTransitionTime: moved ?? kubernetesTime(atMs) };
  return [...conditions.filter(({ type }) => type !== change.type), condition];
}
