import { expect, test } from 'vitest';
import { createKeeping } from '../../../src/load/relations/kept-mirrors.ts';
import type { Mirrors } from '../../../src/watch/mirrors.ts';
import { createFakeMirrors, type FakeMirror } from '../../support/fake-mirrors.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { served } from '../../support/related-world.ts';

/** One cluster, with the mirrors that somebody holds, in the order of their leases. */
function heldMirrors() {
  const mirrors = createFakeMirrors(createManualClock());
  const north = mirrors.join('north');
  north.discover(served('Node'), served('Pod'));
  const held: unknown[] = [];
  const watched: Mirrors = {
    ...mirrors,
    acquire(...asked) {
      const lease = mirrors.acquire(...asked);
      if (lease === undefined) return undefined;
      held.push(lease.mirror);
      return { mirror: lease.mirror, [Symbol.dispose]: () => void held.splice(held.indexOf(lease.mirror), 1) };
    },
  };
  const mirrorOf = (kind: string): FakeMirror => north.mirror(served(kind));
  return { north, held, mirrorOf, keptBy: createKeeping(watched) };
}

test('each mirror is held once, until the stream ends', () => {
  const { held, mirrorOf, keptBy } = heldMirrors();
  const [life, other] = [new AbortController(), new AbortController()];
  for (const kind of ['Node', 'Pod', 'Node']) keptBy(life.signal).keep(mirrorOf(kind));
  expect(held).toEqual([mirrorOf('Node'), mirrorOf('Pod')]);
  keptBy(other.signal).keep(mirrorOf('Pod'));
  life.abort();
  expect(held, 'what another stream holds').toEqual([mirrorOf('Pod')]);
  other.abort();
  expect(held).toEqual([]);
});

test('one that has ended is let go of for the next of its kind', () => {
  const { north, held, mirrorOf, keptBy } = heldMirrors();
  const { signal } = new AbortController();
  const before = mirrorOf('Node');
  keptBy(signal).keep(before);
  north.discover(served('Pod'));
  north.discover(served('Node'), served('Pod'));
  keptBy(signal).keep(mirrorOf('Node'));
  expect(held.map((mirror) => [mirror === before, mirror === mirrorOf('Node')])).toEqual([[false, true]]);
});

test('what is read on after the end of the stream is not held', () => {
  const { held, mirrorOf, keptBy } = heldMirrors();
  const life = new AbortController();
  const kept = keptBy(life.signal);
  life.abort();
  kept.keep(mirrorOf('Node'));
  keptBy(AbortSignal.abort()).keep(mirrorOf('Node'));
  expect(held).toEqual([]);
});
