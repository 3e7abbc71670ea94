import { tooOld } from '../../../src/sim/kinds/api-status.ts';
import type { ServedWatch, SimServer } from '../../../src/sim/requests/sim-server.ts';
import type { Behaviour } from './behaviour.ts';
import type { Door } from './door.ts';
import { refusalOf } from './misbehaving-answers.ts';
import type { Misbehaviours, SimScope } from './misbehaviours.ts';
import { factsOf, isWithin } from './rule-set.ts';

/** Misbehaviours of connections and answers. `upset` has the others, which change the state of the cluster. */
export type WireMisbehaviours = Omit<
  Misbehaviours,
  'compact' | 'expireContinue' | 'failOver' | 'restore' | 'recreate' | 'upgrade' | 'churn' | 'rotateToken'
>;

/** Creates the methods that make a cluster answer wrongly, late or not at all. */
export function misbehave(server: SimServer, door: Door, behaviour: Behaviour): WireMisbehaviours {
  const { watches, state } = server;
  const streams = (scope: SimScope = {}): ServedWatch[] =>
    [...watches].filter(({ target, request }) => isWithin(factsOf(target, request.path), scope));
  const toAll = (scope: SimScope | undefined, act: (stream: ServedWatch) => void): number => {
    const meant = streams(scope);
    for (const stream of meant) act(stream);
    return meant.length;
  };
  const isAt = (stream: ServedWatch) => stream.request.query.resourceVersion ?? String(state.revision);

  return {
    answer: (answer, scope = {}) => behaviour.answers.add(answer, scope, answer.times ?? 1),
    delay: (ms, scope = {}) => behaviour.delays.add(ms, scope),
    drip: (scope = {}) => behaviour.drips.add(true, scope),
    silence: () => door.silence(),
    stall: (scope = {}) => behaviour.stalls.add(true, scope),
    refuse: () => door.refuse(),
    disconnect: () => door.cut(),
    close: (scope) => toAll(scope, (stream) => stream.end()),
    closeAtOnce: (scope = {}) => behaviour.closesAtOnce.add(true, scope),
    holdHeaders: (scope = {}) => behaviour.heldHeaders.add(true, scope),
    goAway: () => door.goAway(),
    speak: (protocols, options) => door.speak(protocols, options?.maxConcurrentStreams),
    expire(as, scope = {}) {
      if (as === 'now') toAll(scope, (stream) => stream.fail(tooOld(isAt(stream), state.revision)));
      else if (as === 'list') behaviour.expiredLists.add(true, { ...scope, verb: 'list' }, 1);
      else behaviour.expirations.add(as, { ...scope, verb: 'watch' }, 1);
    },
    error(error, { times = 0, ...scope } = {}) {
      const status = typeof error === 'number' ? { code: error } : error;
      if (times > 0) behaviour.errors.add(status, { ...scope, verb: 'watch' }, times);
      return toAll(scope, (stream) => stream.fail(refusalOf(status)));
    },
    cut(where, { end = 'reset', ...scope } = {}) {
      behaviour.cuts.add({ where, end }, { ...scope, verb: where === 'gzip' ? 'list' : 'watch' }, 1);
    },
    chunk: (scope = {}) => behaviour.chunks.add(true, scope),
    emit(event, scope) {
      const isRaw = typeof event === 'string' || event instanceof Uint8Array;
      const bytes = isRaw ? event : `${JSON.stringify(event)}\n`;
      return toAll(scope, (stream) => stream.emit(bytes));
    },
    forbid: (prohibition) => behaviour.forbid(prohibition),
    streaming: (fault, scope = {}) => behaviour.streaming.add(fault, scope, fault.type === 'dying' ? (fault.times ?? 1) : undefined),
    bookmark(version = String(state.visibleRevision), scope = {}) {
      const meant = streams(scope).filter(({ allowsBookmarks }) => allowsBookmarks);
      for (const stream of meant) stream.bookmark(version, { endsInitialEvents: false });
      return meant.length;
    },
    breakGroup: (group) => behaviour.breakGroup(group),
    unwatchable({ group, kind, resource }) {
      const meant = state.storages().filter(({ kind: one }) => {
        return [group ?? one.group, kind ?? one.kind, resource ?? one.resource].join() === [one.group, one.kind, one.resource].join();
      });
      const restored = meant.map((storage) => {
        const { kind: served } = storage;
        storage.serveAs({ ...served, verbs: served.verbs.filter((verb) => verb !== 'watch') });
        return () => storage.serveAs({ ...storage.kind, verbs: served.verbs });
      });
      return { [Symbol.dispose]: () => restored.forEach((restore) => void restore()) };
    },
    refuseWrites: (refusal, { times, ...scope } = {}) => behaviour.refusals.add(refusal, scope, times),
    redirect: (location, scope = {}) => behaviour.redirects.add(location, scope),
  };
}
