import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { LiveStream } from '../../support/clients/live-socket.ts';
import { codesOf } from '../../support/clients/live-socket.ts';
import { changesIn } from '../../support/gateway/pod-reader.ts';
import { startGateway } from '../../support/gateway/start-gateway.ts';
import { pod } from '../../support/workloads.ts';

// One answer holds at most 10,000 objects. A message of a stream that would hold more is split, and the stream continues.

const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };
const podsNamed = (prefix: string, count: number): readonly KubernetesObject[] =>
  Array.from({ length: count }, (_, n) => pod(`${prefix}-${n}`, {}, { nodeName: 'n1' }));

const query = `subscription ($after: String) { pods(after: $after) {
  type cursor added { id metadata { name } node { pods(first: 100) { items { metadata { name } } } } } modified { id } deleted { id }
} }`;

/** Returns the names of added pods in order, with repetitions. */
function addedIn(stream: LiveStream): readonly string[] {
  return changesIn(stream).flatMap(({ added }) => added.map(({ metadata }) => metadata.name));
}

/** Returns the number of objects that a client holds after it has handled these messages in order. */
function heldAfter(messages: ReturnType<typeof changesIn>): number {
  const held = new Set<string>();
  for (const { type, added } of messages) {
    if (type === 'RESET') held.clear();
    for (const { metadata } of added) held.add(metadata.name);
  }
  return held.size;
}

const isSynced = (stream: LiveStream) => changesIn(stream).some(({ type }) => type === 'SYNCED');

test('a stream of an expensive document continues when 120 objects appear at once, and so does one that resumes or begins', async () => {
  await using gateway = await startGateway({ north: [node] });
  const stream = await gateway.subscribe(query);
  await gateway.until(() => isSynced(stream));
  const after = changesIn(stream).at(-1)?.cursor ?? '';
  const names = podsNamed('p', 120).map(({ metadata }) => metadata.name);
  for (const one of podsNamed('p', 120)) gateway.cluster('north').put(one);
  await gateway.until(() => addedIn(stream).length >= 120 || codesOf(stream).length > 0);
  expect(codesOf(stream)).toEqual([]);
  expect([...addedIn(stream)].sort()).toEqual([...names].sort());

  const resumed = await gateway.subscribe(query, { after });
  await gateway.until(() => addedIn(resumed).length >= 120 || codesOf(resumed).length > 0);
  expect(codesOf(resumed)).toEqual([]);
  expect([...addedIn(resumed)].sort()).toEqual([...names].sort());

  const fresh = await gateway.subscribe(query);
  await gateway.until(() => isSynced(fresh) || codesOf(fresh).length > 0);
  expect(codesOf(fresh)).toEqual([]);
  expect([...addedIn(fresh)].sort()).toEqual([...names].sort());
});

test('a cursor of any part of a split message loses nothing', async () => {
  await using gateway = await startGateway({ north: [node] });
  const stream = await gateway.subscribe(query);
  await gateway.until(() => isSynced(stream));
  const count = changesIn(stream).length;
  for (const one of podsNamed('p', 120)) gateway.cluster('north').put(one);
  await gateway.until(() => addedIn(stream).length >= 120);
  const parts = changesIn(stream).slice(count);
  expect(parts.length).toBeGreaterThan(1);
  for (const [index, { cursor }] of parts.entries()) {
    const resumed = await gateway.subscribe(query, { after: cursor });
    gateway.cluster('north').put(pod(`later-${index}`));
    await gateway.until(() => addedIn(resumed).includes(`later-${index}`));
    expect(heldAfter([...parts.slice(0, index + 1), ...changesIn(resumed)])).toBe(120 + index + 1);
  }
});

test('a document that cannot afford one object ends the stream', async () => {
  await using gateway = await startGateway({ north: [node, ...podsNamed('p', 101)] });
  const stream = await gateway.subscribe(
    'subscription { pods { type added { node { pods(first: 100) { items { node { pods(first: 100) { items { id } } } } } } } } }',
  );
  await gateway.until(() => codesOf(stream).length > 0);
  expect(codesOf(stream)).toEqual(['TOO_COSTLY']);
});
