import { randomUUID } from 'node:crypto';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { findObject } from '../../../src/sim/administer.ts';
import { gitVersionOf } from '../../../src/sim/create-sim-server.ts';
import { builtInKinds } from '../../../src/sim/kinds/built-in-kinds.ts';
import type { KindName } from '../../../src/sim/kinds/embedded-cluster.ts';
import { parseSimObject, simObjectOf } from '../../../src/sim/kinds/sim-object.ts';
import type { SimServer } from '../../../src/sim/requests/sim-server.ts';
import { removeWithDependents } from '../../../src/sim/state/deletion.ts';
import type { KindStorage } from '../../../src/sim/state/kind-storage.ts';
import { createObject, patchMetadata } from '../../../src/sim/state/object-writes.ts';
import type { Door } from './door.ts';
import type { LaggingState } from './lagging-state.ts';
import type { Churn, Misbehaviours } from './misbehaviours.ts';

/** Misbehaviours that change the state or the identity of the cluster. */
export type StateMisbehaviours = Pick<
  Misbehaviours,
  'compact' | 'expireContinue' | 'failOver' | 'restore' | 'recreate' | 'upgrade' | 'churn' | 'rotateToken'
>;

/** Creates the methods that make a cluster forget, go back, or become another one. */
export function upset(server: SimServer, state: LaggingState, door: Door): StateMisbehaviours {
  return {
    compact() {
      // The version grows by one, as in a cluster with constant changes.
      state.revision += 1;
      for (const storage of state.storages()) storage.reset(storage.sorted(), state.revision);
      server.tokensExpiredAt = state.revision - 1;
    },
    expireContinue() {
      server.tokensExpiredAt = state.revision;
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
      const { storage, object } = findObject(server, kind, { name, namespace });
      if (object === undefined) throw new Error(`no ${storage.kind.kind} ${name} in the cluster`);
      const old = parseSimObject(storage.kind, object);
      removeWithDependents(state, storage, object);
      const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, deletionTimestamp: _deleted, ...metadata } = old.metadata;
      const again = { ...old, metadata: { ...metadata, name } };
      return parseSimObject(storage.kind, createObject(state, storage, again, { manager: 'sim' }));
    },
    upgrade(version, convert) {
      serveVersion(server, version);
      if (convert !== undefined) for (const storage of state.storages()) convertObjects(storage, convert);
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
    const { annotations } = parseSimObject(storage.kind, object).metadata;
    patchMetadata(state, storage, object, { annotations: { ...annotations, 'sim/churn': String(state.revision) } });
  }
  for (const object of deletes > 0 ? objects.slice(-deletes) : []) removeWithDependents(state, storage, object);
  if (first === undefined) return;
  const model = parseSimObject(storage.kind, first);
  for (let index = 0; index < creates; index++) {
    const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, ...metadata } = model.metadata;
    const name = `${first.name}-churn-${state.revision}`;
    createObject(state, storage, { ...model, metadata: { ...metadata, name } }, { manager: 'sim' });
  }
}

/** Converts each object in place, so the history of the kind has the converted object too. */
function convertObjects(storage: KindStorage, convert: (object: KubernetesObject) => KubernetesObject): void {
  for (const object of storage.sorted()) {
    Object.assign(object, simObjectOf(storage.kind, convert(parseSimObject(storage.kind, object)), object.revision));
  }
}

/** Ends all watches without an error. */
function endAllWatches(server: SimServer): void {
  for (const stream of [...server.watches]) {
    server.watches.delete(stream);
    stream.reset();
  }
}

/** Serves the kinds of another version of the server. */
function serveVersion(server: SimServer, version: string): void {
  const { state } = server;
  server.gitVersion = gitVersionOf(version);
  const kinds = builtInKinds(version);
  for (const kind of kinds) state.serve(kind);
  for (const storage of state.storages()) {
    const { kind: served } = storage;
    const isKnown = served.source !== 'builtIn' || kinds.some(({ kind, group }) => kind === served.kind && group === served.group);
    if (!isKnown) state.withdraw(storage);
  }
}
