import { describe, expect, test } from 'vitest';
import { type ChangeMessage, type StreamedItem, StreamedObjects } from '../../../src/core/streams/streamed-objects.ts';

interface Item extends StreamedItem {
  readonly name: string;
  readonly version: string;
}

const item = (name: string, version = '1'): Item => ({ id: `id-${name}`, name, version });

function message(type: string, parts: Partial<ChangeMessage<Item>> = {}): ChangeMessage<Item> {
  return { type, cluster: { name: 'north' }, added: [], modified: [], deleted: [], ...parts };
}

function holding() {
  const held = new StreamedObjects<Item>(({ version }) => version);
  const apply = (...messages: readonly ChangeMessage<Item>[]) =>
    messages.flatMap((one) => held.apply(one)).map((change) => `${change.type} ${change.item.name}@${change.item.version}`);
  return { held, apply, names: () => [...held.values()].map(({ name }) => name).toSorted() };
}

test('reports each change once', () => {
  const { apply, names } = holding();
  expect(apply(message('INITIAL', { added: [item('a'), item('b')] }), message('SYNCED'))).toEqual(['ADDED a@1', 'ADDED b@1']);
  expect(apply(message('LIVE', { added: [item('c')], modified: [item('a', '2')], deleted: [item('b')] }))).toEqual([
    'DELETED b@1',
    'ADDED c@1',
    'MODIFIED a@2',
  ]);
  expect(names()).toEqual(['a', 'c']);
});

test('reports no deletion of an unknown object', () => {
  expect(holding().apply(message('LIVE', { deleted: [item('a')] }))).toEqual([]);
});

describe('a state that is sent again', () => {
  const first = [message('INITIAL', { added: [item('same'), item('changed'), item('gone')] }), message('SYNCED')];
  const again = [message('INITIAL', { added: [item('same'), item('changed', '2'), item('new')] }), message('SYNCED')];
  const difference = ['MODIFIED changed@2', 'ADDED new@1', 'DELETED gone@1'];

  test('after a reset reports only differences, and missing objects once it is complete', () => {
    const { apply, names } = holding();
    apply(...first);
    expect(apply(message('RESET'))).toEqual([]);
    expect(names()).toEqual(['changed', 'gone', 'same']);
    expect(apply(...again)).toEqual(difference);
    expect(names()).toEqual(['changed', 'new', 'same']);
  });

  test('after a restart of the stream reports only differences', () => {
    const { held, apply } = holding();
    apply(...first);
    held.restart();
    expect(apply(...again)).toEqual(difference);
  });

  test('after a second reset reports only differences', () => {
    const { apply } = holding();
    apply(...first);
    apply(message('RESET'), message('INITIAL', { added: [item('same')] }));
    expect(apply(message('RESET'), ...again)).toEqual(difference);
  });

  test('reports a deletion that arrives before it is complete once', () => {
    const { apply } = holding();
    apply(...first);
    expect(apply(message('RESET'), message('INITIAL', { added: [item('same'), item('changed')] }))).toEqual([]);
    expect(apply(message('LIVE', { deleted: [item('gone')] }), message('SYNCED'))).toEqual(['DELETED gone@1']);
  });

  test('leaves other clusters and kinds alone', () => {
    const { apply, names } = holding();
    const elsewhere = { cluster: { name: 'south' } };
    const ofKind = { kind: { group: 'apps', kind: 'Deployment' } };
    apply(...first);
    apply(message('INITIAL', { ...elsewhere, added: [item('there')] }), message('SYNCED', elsewhere));
    apply(message('INITIAL', { ...ofKind, added: [item('other')] }), message('SYNCED', ofKind));
    apply(message('RESET'));
    expect(apply(message('SYNCED', elsewhere), message('SYNCED', ofKind))).toEqual([]);
    expect(apply(message('SYNCED'))).toEqual(['DELETED same@1', 'DELETED changed@1', 'DELETED gone@1']);
    expect(names()).toEqual(['other', 'there']);
  });
});

test('reports no deletions for a cluster that has left', () => {
  const { apply, names } = holding();
  apply(message('INITIAL', { added: [item('a')] }), message('SYNCED'));
  expect(apply(message('FAILED', { fault: { code: 'UNREACHABLE' } }))).toEqual([]);
  expect(names()).toEqual(['a']);
  expect(apply(message('FAILED', { fault: { code: 'GONE' } }))).toEqual([]);
  expect(names()).toEqual([]);
});
