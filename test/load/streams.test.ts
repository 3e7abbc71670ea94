import { describe, expect, test } from 'vitest';
import { graphOverMirrors } from '../support/graph-over-mirrors.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';
import { turns } from '../support/manual-clock.ts';
import { callerNamed, readEagerly } from '../support/stream-fold.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');
const kindOf = (key: string) => {
  const kind = model.kinds.get(key);
  if (kind === undefined) throw new Error(`no kind ${key}`);
  return kind;
};
const podKind = kindOf('Pod');
const me = callerNamed('me');
const pod = (name: string, labels: Readonly<Record<string, string>> = {}) => objectNamed(name, { namespace: 'shop', labels });

describe('the first state', () => {
  test('comes cluster by cluster, and each says when it is whole', async () => {
    const { mirrors, streams } = graphOverMirrors({ model });
    for (const name of ['south', 'north']) {
      const cluster = mirrors.join(name);
      cluster.discover(pods);
      cluster.mirror(pods).list(pod(`${name}-1`), pod(`${name}-2`));
    }
    const read = await readEagerly(streams.changes(me, podKind, {}));
    expect(read.lines()).toEqual([]);
    await turns();
    expect(read.lines()).toEqual(['INITIAL north +north-1 +north-2', 'SYNCED north', 'INITIAL south +south-1 +south-2', 'SYNCED south']);
  });

  test('then what changes', async () => {
    const { mirrors, streams, clock } = graphOverMirrors({ model });
    const north = mirrors.join('north');
    north.discover(pods);
    const one = pod('one');
    north.mirror(pods).list(one);
    const read = await readEagerly(streams.changes(me, podKind, {}));
    await turns();
    north.mirror(pods).put({ ...one, metadata: { ...one.metadata, resourceVersion: 'x' } });
    north.mirror(pods).put(pod('two'));
    await turns();
    north.mirror(pods).remove(one);
    await turns();
    expect(read.lines(2)).toEqual(['LIVE north +two ~one']);
    await clock.advance(5);
    expect(read.lines(3)).toEqual(['LIVE north -one']);
    expect(read.messages.at(-1)?.cursor).toMatch(/^[\w-]{40,}$/);
  });
});
