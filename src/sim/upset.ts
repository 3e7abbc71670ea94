import { randomUUID } from 'node:crypto';
import type { SimServer } from './answer-context.ts';
import { endAllWatches } from './define-kind.ts';
import { removeNow } from './deletion.ts';
import type { Door } from './door.ts';
import type { Churn, Misbehaviours } from './misbehaviours.ts';
import { createObject, patchMetadata } from './object-writes.ts';
import type { KindName } from './sim-cluster.ts';
import { keyOf, parsed, type StoredObject } from './stored-object.ts';

/** Misbehaviours that change what the cluster holds, knows, or takes itself for. */
export type StateMisbehaviours = Pick<
  Misbehaviours,
  'compact' | 'expireContinue' | 'failOver' | 'restore' | 'recreate' | 'upgrade' | 'churn' | 'rotateToken'
>;

/** Kinds are offered again in another version: what a new version of the server serves. */
export type Reversion = (version: string) => void;

/** The methods by which a cluster forgets, goes back, or becomes another. */
export function upset(server: SimServer, door: Door, reversion: Reversion): StateMisbehaviours {
  const { state } = server;
  return {
    compact() {
      state.compact();
      server.tokensExpiredAt = state.revision - 1;
    },
    expireContinue() {
      server.tokensExpiredAt = state.revision;
      for (const storage of state.storages()) storage.unpin();
    },
    failOver(behind) {
      state.lag(behind);
      door.cut();
      return { [Symbol.dispose]: () => state.catchUp() };
    },
    restore({ version }) {
      endAllWatches(server);
      state.restore(version);
      server.tokensExpiredAt = -1;
      door.cut();
    },
    rotateToken(token = randomUUID()) {
      server.token = token;
      return token;
    },
    recreate(kind, name, namespace) {
      const { storage, object } = find(server, kind, { name, namespace });
      const old = parsed(storage.kind, object);
      removeNow(state, storage, object);
      const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, deletionTimestamp: _deleted, ...metadata } = old.metadata;
      const again = { ...old, metadata: { ...metadata, name } };
      return parsed(storage.kind, createObject(state, storage, again, { manager: 'sim' }));
    },
    upgrade(version, convert) {
      reversion(version);
      if (convert !== undefined) for (const storage of state.storages()) storage.convert(convert);
      door.cut();
    },
    churn(kind, churn) {
      churnKind(server, kind, churn);
    },
  };
}

function churnKind(server: SimServer, kind: KindName, { updates = 0, deletes = 0, creates = 0 }: Churn): void {
  const { state } = server;
  const storage = state.storageOf(kind);
  const objects = storage.sorted();
  const [first] = objects;
  for (const object of objects.slice(0, updates)) {
    const { annotations } = parsed(storage.kind, object).metadata;
    patchMetadata(state, storage, object, { annotations: { ...annotations, 'sim/churn': String(state.revision) } });
  }
  for (const object of deletes > 0 ? objects.slice(-deletes) : []) removeNow(state, storage, object);
  if (first === undefined) return;
  const model = parsed(storage.kind, first);
  for (let index = 0; index < creates; index++) {
    const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, ...metadata } = model.metadata;
    const name = `${first.name}-churn-${state.revision}`;
    createObject(state, storage, { ...model, metadata: { ...metadata, name } }, { manager: 'sim' });
  }
}

/** @throws {Error} if there is no such object. */
function find(server: SimServer, kind: KindName, { name, namespace }: { readonly name: string; readonly namespace: string | undefined }) {
  const storage = server.state.storageOf(kind);
  const object: StoredObject | undefined = storage.get(keyOf(storage.kind.namespaced ? (namespace ?? 'default') : '', name));
  if (object === undefined) throw new Error(`no ${storage.kind.kind} ${name} in the cluster`);
  return { storage, object };
}
