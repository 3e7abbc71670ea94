import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Fault } from '../../../src/core/faults.ts';
import { clusterName } from '../../../src/core/names.ts';
import { identityOf, type KubernetesObject } from '../../../src/core/objects.ts';
import { createStore } from '../../../src/store/contents/store.ts';
import type { ListStage, MirrorStore, StoreEvent } from '../../../src/store/mirror-store.ts';
import { createManualClock, turns } from '../../support/manual-clock.ts';
import { deepFreeze, neverAsked, objectOf, versionOf } from '../../support/store/store-objects.ts';

const fault: Fault = { code: 'FORBIDDEN', cluster: clusterName('north'), message: 'lost', retry: 'LATER' };
const namespaces = ['a', 'b'];

/** The naive cluster: a map and a counter. */
class Cluster {
  readonly objects = new Map<string, KubernetesObject>();
  version = 10;
  uids = 0;

  put(place: Place): KubernetesObject {
    const key = keyOf(place);
    const uid = this.objects.get(key)?.metadata.uid ?? `uid-${++this.uids}`;
    return this.write(place, uid);
  }

  recreate(place: Place): KubernetesObject {
    return this.write(place, `uid-${++this.uids}`);
  }

  delete(place: Place): KubernetesObject | undefined {
    const key = keyOf(place);
    const object = this.objects.get(key);
    if (object === undefined) return undefined;
    this.objects.delete(key);
    this.version += 1;
    return copy(object, this.version);
  }

  private write({ namespace, name }: Place, uid: string): KubernetesObject {
    this.version += 1;
    const spec = { group: this.version % 3, text: 'a text that is longer than others', list: [{ same: true }, this.version % 2] };
    const labels = { app: `app-${this.version % 3}` };
    const metadata = { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: `owner-${this.uids % 3}`, controller: true }] };
    const object = objectOf({ namespace, name, uid, version: this.version, labels, metadata, spec });
    this.objects.set(keyOf({ namespace, name }), object);
    return copy(object);
  }
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

type Step =
  | { readonly type: 'put' | 'recreate' | 'delete' | 'missed' | 'repeat'; readonly place: Place }
  | {
      readonly type: 'list';
      readonly churn: readonly Place[];
      readonly namespace: string | undefined;
      readonly keep: boolean;
      readonly byContent: boolean;
    }
  | { readonly type: 'discard' | 'bookmark' | 'fail' | 'recover' | 'empty' | 'turn' | 'join' | 'leave' | 'read' };

const place = fc.record({ namespace: fc.constantFrom(...namespaces), name: fc.constantFrom('p', 'q', 'r', 's') });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ type: fc.constantFrom('put', 'recreate', 'delete', 'missed', 'repeat'), place }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('list' as const),
      churn: fc.array(place, { maxLength: 3 }),
      namespace: fc.constantFrom(undefined, undefined, ...namespaces),
      keep: fc.boolean(),
      byContent: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constantFrom('discard', 'bookmark', 'fail', 'recover', 'empty', 'turn', 'join', 'leave', 'read') }),
  },
);

/** Folds the events that it receives, and checks that they are consistent. A slow follower takes a batch only on request. */
class Follower {
  readonly fold = new Map<string, KubernetesObject>();
  readonly stop = new AbortController();
  readonly slow: boolean;
  release: (() => void) | undefined;

  constructor(store: MirrorStore, slow: boolean) {
    this.slow = slow;
    for (const object of store.follow((events) => this.take(events), this.stop.signal).snapshot) this.fold.set(placeOf(object), object);
  }

  take(events: readonly StoreEvent[]): Promise<void> | undefined {
    for (const event of events) this.apply(event);
    if (!this.slow) return undefined;
    return new Promise((resolve) => {
      this.release = resolve;
    });
  }

  private apply(event: StoreEvent): void {
    switch (event.type) {
      case 'applied': {
        const known = this.fold.get(placeOf(event.object));
        expect(known).toBe(event.before);
        if (known !== undefined) expect(known.metadata.uid).toBe(event.object.metadata.uid);
        this.fold.set(placeOf(event.object), event.object);
        return;
      }
      case 'deleted': {
        // Each deletion arrives once: the object is known, and has this uid.
        expect(this.fold.get(placeOf(event.object))?.metadata.uid).toBe(event.object.metadata.uid);
        this.fold.delete(placeOf(event.object));
        return;
      }
      case 'reset':
        this.fold.clear();
        for (const object of event.snapshot) this.fold.set(placeOf(object), object);
        return;
      default:
        return;
    }
  }
}

class Run {
  readonly cluster = new Cluster();
  readonly store = createStore({ epoch: 'e', clock: createManualClock() });
  readonly followers: Follower[] = [];
  /** Cursors of clients that resume, with the state that they knew at that version. */
  readonly cursors: { readonly version: string; readonly epoch: string; readonly fold: ReadonlyMap<string, string> }[] = [];

  constructor() {
    this.list({ churn: [], namespace: undefined, keep: false, byContent: false });
  }

  async step(step: Step): Promise<void> {
    switch (step.type) {
      case 'put':
      case 'recreate': {
        const object = step.type === 'put' ? this.cluster.put(step.place) : this.cluster.recreate(step.place);
        this.store.applied(object, versionOf(this.cluster.version), neverAsked);
        break;
      }
      case 'delete':
        this.delete(step.place);
        break;
      case 'missed':
        this.cluster.recreate(step.place);
        this.list({ churn: [], namespace: undefined, keep: true, byContent: false });
        break;
      case 'repeat': {
        const object = this.cluster.objects.get(keyOf(step.place));
        if (object !== undefined) this.store.applied(copy(object), versionOf(this.cluster.version), neverAsked);
        break;
      }
      case 'list':
        this.list(step);
        break;
      default:
        await this.control(step.type);
    }
    for (const object of this.store.objects()) deepFreeze(object);
  }

  private delete(where: Place): void {
    const object = this.cluster.delete(where);
    const stranger = objectOf({ ...where, uid: 'never-seen', version: this.cluster.version });
    this.store.deleted(object ?? stranger, versionOf(this.cluster.version), neverAsked);
  }

  /** Does what a reflector does: pages while the cluster changes, then the watch from the version of the list. */
  private list({ churn, namespace, keep, byContent }: Omit<Extract<Step, { type: 'list' }>, 'type'>): void {
    const stage: ListStage = this.store.replace({ byContent, ...(namespace === undefined ? {} : { namespace }) });
    const version = this.cluster.version;
    for (const object of this.cluster.objects.values()) {
      if (namespace !== undefined && object.metadata.namespace !== namespace) continue;
      if (keep && stage.keep(identityOf(object))) continue;
      stage.add(copy(object), neverAsked);
    }
    // The watch of another scope receives later versions while the list is received.
    for (const where of churn) {
      if (this.cluster.version % 2 === 0) this.delete(where);
      else this.store.applied(this.cluster.put(where), versionOf(this.cluster.version), neverAsked);
    }
    stage.commit(versionOf(version));
  }

  private async control(what: Exclude<Step['type'], 'put' | 'recreate' | 'delete' | 'missed' | 'repeat' | 'list'>): Promise<void> {
    switch (what) {
      case 'discard': {
        const stage = this.store.replace();
        stage.add(objectOf({ name: 'never', namespace: 'a' }), neverAsked);
        stage.discard();
        return;
      }
      case 'bookmark':
        this.store.confirmed(versionOf(this.cluster.version));
        return;
      case 'fail':
        this.store.failed(fault);
        return;
      case 'recover':
        this.store.synced();
        return;
      case 'empty':
        this.store.empty(fault);
        this.list({ churn: [], namespace: undefined, keep: true, byContent: false });
        return;
      case 'turn':
        await turns(2);
        return;
      case 'join':
        this.followers.push(new Follower(this.store, this.followers.length % 2 === 1));
        this.remember();
        return;
      case 'leave':
        this.followers.shift()?.stop.abort();
        return;
      case 'read':
        for (const follower of this.followers) follower.release?.();
        await turns(2);
        return;
      default: {
        what satisfies never;
      }
    }
  }

  private remember(): void {
    const { version, epoch } = this.store;
    if (version !== undefined)
      this.cursors.push({
        version,
        epoch,
        fold: new Map([...this.store.objects()].map((object) => [placeOf(object), uidAndVersion(object)])),
      });
  }

  /** Checks that the store equals the cluster, with its indexes and order. */
  checkStore(): void {
    const { store, cluster } = this;
    const expected = [...cluster.objects.values()];
    expect(foldOf(store.objects())).toEqual(foldOf(expected));
    expect(store.size).toBe(expected.length);
    expect(store.namespaces()).toEqual([...new Set(expected.map(({ metadata }) => metadata.namespace ?? ''))].sort());
    for (const namespace of namespaces) {
      const here = expected.filter(({ metadata }) => metadata.namespace === namespace);
      expect(store.inNamespace(namespace).map(({ metadata }) => metadata.name)).toEqual(here.map(({ metadata }) => metadata.name).sort());
      expect(store.countIn(namespace)).toBe(here.length);
    }
    for (const group of [0, 1, 2]) {
      const [byLabel, byOwner] = [
        store.indexed({ by: 'label', key: 'app', values: [`app-${group}`] }),
        store.indexed({ by: 'owner', uid: `owner-${group}` }),
      ];
      expect(foldOf(byLabel ?? [])).toEqual(foldOf(expected.filter(({ metadata }) => metadata.labels?.app === `app-${group}`)));
      expect(foldOf(byOwner ?? [])).toEqual(
        foldOf(expected.filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === `owner-${group}`)),
      );
    }
  }

  async checkFollowers(): Promise<void> {
    for (let round = 0; round < 20; round += 1) {
      for (const follower of this.followers) follower.release?.();
      await turns(2);
    }
    for (const { fold } of this.followers) expect(foldOf(fold.values())).toEqual(foldOf(this.store.objects()));
  }

  checkCursors(): void {
    for (const { version, epoch, fold } of this.cursors) {
      const changes = this.store.changesSince(epoch, versionOf(version));
      if (changes === undefined) continue;
      const resumed = new Map(fold);
      for (const event of changes) {
        if (event.type === 'applied') resumed.set(placeOf(event.object), uidAndVersion(event.object));
        if (event.type === 'deleted') resumed.delete(placeOf(event.object));
      }
      expect([...resumed].sort()).toEqual(foldOf(this.store.objects()));
    }
  }
}

test('the store equals the cluster, every reader equals the store, and a resumed cursor leads to the same state', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const run = new Run();
      for (const each of steps) {
        await run.step(each);
        run.checkStore();
      }
      run.checkCursors();
      await run.checkFollowers();
    }),
    { numRuns: 300 },
  );
});

function keyOf({ namespace, name }: Place): string {
  return `${namespace}/${name}`;
}

function placeOf({ metadata: { namespace = '', name } }: KubernetesObject): string {
  return `${namespace}/${name}`;
}

function uidAndVersion({ metadata: { uid = '', resourceVersion = '' } }: KubernetesObject): string {
  return `${uid}@${resourceVersion}`;
}

function foldOf(objects: Iterable<KubernetesObject>): readonly (readonly [string, string])[] {
  return [...objects].map((object) => [placeOf(object), uidAndVersion(object)] as const).sort();
}

function copy(object: KubernetesObject, version?: number): KubernetesObject {
  const fresh = structuredClone(object);
  return version === undefined ? fresh : { ...fresh, metadata: { ...fresh.metadata, resourceVersion: String(version) } };
}
