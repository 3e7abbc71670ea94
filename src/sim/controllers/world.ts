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

/** What happened, to whom: it becomes an Event. */
export interface ReportedEvent {
  readonly to: KubernetesObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** The component that reports it: `kubelet`, `deployment-controller`. */
  readonly from: string;
}

/** A cluster as its controllers meet it: what is there, what time it is, and what they may do. */
export interface World {
  readonly view: ControllerView;
  readonly nowMs: number;
  /** Creates the object, or brings it to this state. */
  put(object: KubernetesObject): void;
  remove(kind: ControlledKind, object: KubernetesObject): void;
  /** Marks the object as going; the kubelet removes it a moment later. */
  terminate(object: KubernetesObject): void;
  record(happening: ReportedEvent): void;
  /**
   * True once a time between the two has passed since it was first asked for under this key, and then false until that time has passed again.
   * A key that is not asked for in a round is forgotten. At once in the past that `finishDeletion` makes up.
   */
  hasElapsed(key: string, minMs: number, maxMs: number): boolean;
  /** When something made now came to be: now, or, in the past that `finishDeletion` makes up, some time after its owner did. */
  creationTimeFor(owner: KubernetesObject): string;
  /** While true, everything that takes time has already happened: a past is made up. */
  readonly isFastForward: boolean;
  /** Uniform in [0, 1). */
  random(): number;
}

export interface WorldControl extends World {
  /** Begins a round at the time of now. */
  begin(): void;
  /** Ends it: forgets what was not asked for. */
  end(): void;
  /** True if something waits whose time has come. */
  isDue(): boolean;
  isFastForward: boolean;
  nowMs: number;
}

export interface WorldOptions {
  readonly cluster: EmbeddedCluster;
  readonly view: ControllerView;
  readonly clock: Clock;
  readonly record: (happening: ReportedEvent, world: World) => void;
}

/** A world that stands still until its rounds are begun. */
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
    record: (happening) => record(happening, world),
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

/** The object with what a cluster would give it when it is made. */
function drafted(object: KubernetesObject, nowMs: number): KubernetesObject {
  const { uid = randomUUID(), creationTimestamp = kubernetesTime(nowMs), generation = 1 } = object.metadata;
  const isCounted = object.spec !== undefined && object.kind !== 'Node' && object.kind !== 'Service' && object.kind !== 'Lease';
  return { ...object, metadata: { ...object.metadata, uid, creationTimestamp, ...(isCounted ? { generation } : {}) } };
}

// The cluster counts generations itself, unless an object that comes says what its own is.
function withoutGeneration(object: KubernetesObject): KubernetesObject {
  const { generation: _generation, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** A controller that reconciles each object of the kind, except those that are being deleted. */
export function controlEach<Kind extends ControlledKind>(kind: Kind, reconcile: (world: World, object: ControlledKinds[Kind]) => void) {
  return (world: World): void => {
    for (const object of [...world.view.objects(kind)]) if (object.metadata.deletionTimestamp === undefined) reconcile(world, object);
  };
}

/** As Kubernetes writes times: to the second. */
export function kubernetesTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** The reference of what the object controls. */
export function controllerReference({ apiVersion = '', kind = '', metadata }: KubernetesObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true, blockOwnerDeletion: true };
}

/** The object with that status, or undefined if it has it already. */
export function changedStatus(object: KubernetesObject, status: JsonObject): KubernetesObject | undefined {
  return isSame(object.status, status) ? undefined : { ...object, status };
}

/** True for equal JSON. A member that is undefined counts as absent. */
export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return canonicalJson(a ?? null) === canonicalJson(b ?? null);
}

/** Letters and digits that spell no word: what Kubernetes makes names of. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** A name's random end, `length` characters. */
export function suffix(world: Pick<World, 'random'>, length = 5): string {
  return Array.from({ length }, () => alphabet[Math.floor(world.random() * alphabet.length)]).join('');
}

const hashes = new WeakMap<JsonObject, string>();

/** Ten characters that are equal for equal values and, in practice, for no others. Objects never change, so each is hashed once. */
export function hashOf(value: Json | undefined): string {
  const known = isJsonObject(value) ? hashes.get(value) : undefined;
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(JSON.stringify(value)).digest();
  const hash = Array.from(digest.subarray(0, 10), (byte) => alphabet[byte % alphabet.length]).join('');
  if (isJsonObject(value)) hashes.set(value, hash);
  return hash;
}

/** The digest that an image of that name might have. */
export function imageDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

type Condition = Stored<V1Condition>;

export interface ConditionChange {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  /** The key under which the condition also keeps when it was last looked at: `lastUpdateTime` of Deployments. */
  readonly updatedKey?: string;
}

/** The conditions with one of them brought to that state. Its times move only if it changes. */
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
