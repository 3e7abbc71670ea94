import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEvent, decodeItem, identityInBytes } from '../../../src/cluster/decoding/decode.ts';
import { isRawNumber, type Json } from '../../../src/core/json.ts';
import { clusterName } from '../../../src/core/names.ts';
import { identityOf, isKubernetesObject } from '../../../src/core/objects.ts';
import { podOf } from '../../bench/pods.ts';
import { podResource } from '../../support/cluster/transport.ts';

const context = { cluster: clusterName('south'), resource: podResource };
const bytesOf = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const event = (value: unknown) => decodeEvent(bytesOf(value), context);
const pod = (metadata: object, more: object = {}) => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'web', resourceVersion: '7', ...metadata },
  ...more,
});

/** Sorts keys alphabetically at every depth, as API servers do in custom resources. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

test('the events of a watch keep their type, object and version', () => {
  expect(event({ type: 'ADDED', object: pod({}) })).toMatchObject({
    type: 'applied',
    wireType: 'ADDED',
    version: '7',
    object: { metadata: { name: 'web' } },
  });
  expect(event({ type: 'MODIFIED', object: pod({}) })).toMatchObject({ type: 'applied', wireType: 'MODIFIED' });
  expect(event({ type: 'DELETED', object: pod({}) })).toMatchObject({ type: 'deleted', version: '7' });
  expect(event({ object: pod({}), type: 'ADDED' })).toMatchObject({ type: 'applied' });
});

test('an object without kind, or the metadata of one, is one of ours', () => {
  expect(event({ type: 'ADDED', object: { metadata: { name: 'a', resourceVersion: '1' } } })).toMatchObject({ type: 'applied' });
  expect(event({ type: 'ADDED', object: { ...pod({}), kind: 'PartialObjectMetadata' } })).toMatchObject({ type: 'applied' });
});

test('a bookmark has a version or none, and may end the initial events', () => {
  expect(
    event({ type: 'BOOKMARK', object: { kind: 'Pod', metadata: { resourceVersion: '9', creationTimestamp: null }, spec: {} } }),
  ).toEqual({ type: 'bookmark', version: '9', initialEventsEnd: false });
  expect(event({ type: 'BOOKMARK', object: { kind: 'Pod', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } })).toEqual({
    type: 'bookmark',
    initialEventsEnd: true,
  });
});

test('an ERROR event becomes the fault of its Status', () => {
  const expired = event({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } });
  expect(expired).toMatchObject({
    type: 'error',
    fault: { code: 'EXPIRED', retry: 'NOW', cluster: 'south', kind: { group: '', kind: 'Pod' }, status: { code: 410 } },
  });
  expect(event({ type: 'ERROR', object: null })).toMatchObject({ type: 'error', fault: { code: 'SERVER_ERROR' } });
});

test.each([
  ['no JSON', 'rubbish'],
  ['half a line', '{"type":"ADDED","object":{"kind":"Pod"'],
  ['null', 'null'],
  ['a number', '7'],
  ['an unknown type', { type: 'RENAMED', object: pod({}) }],
  ['no type', { object: pod({}) }],
  ['no object', { type: 'ADDED' }],
  ['null as object', { type: 'ADDED', object: null }],
  ['another kind', { type: 'ADDED', object: { ...pod({}), kind: 'Node' } }],
  ['no name', { type: 'ADDED', object: pod({ name: '' }) }],
  ['a name that is no text', { type: 'ADDED', object: pod({ name: 7 }) }],
  ['no version', { type: 'MODIFIED', object: pod({ resourceVersion: '' }) }],
  ['a bookmark of another kind', { type: 'BOOKMARK', object: { kind: 'Node', metadata: { resourceVersion: '9' } } }],
])('is refused as unreadable and not skipped: %s', (_name, line) => {
  expect(event(line)).toMatchObject({ type: 'unreadable' });
});

test('bytes that are not UTF-8 are unreadable in any position', () => {
  const line = Buffer.concat([
    bytesOf('{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"web","resourceVersion":"7","labels":{"a":"'),
    Buffer.from([0xc3, 0x28]),
    bytesOf('"}}}}'),
  ]);
  expect(decodeEvent(line, context)).toMatchObject({ type: 'unreadable' });
  expect(decodeItem(line)).toMatchObject({ type: 'unreadable' });
});

test('a Table or a list where an object should be is malformed, and no event', () => {
  for (const kind of ['Table', 'PodList']) {
    expect(event({ type: 'ADDED', object: { kind, metadata: {} } })).toMatchObject({ type: 'error', fault: { code: 'MALFORMED' } });
  }
});

test('managedFields are cut from the top-level metadata, in either order of keys', () => {
  const managedFields = [{ manager: 'x', fieldsV1: { 'k:{"a":"}]"}': {} } }];
  for (const metadata of [
    { name: 'web', resourceVersion: '7', managedFields },
    { managedFields, name: 'web', resourceVersion: '7' },
    { annotations: {}, managedFields, name: 'web', resourceVersion: '7' },
  ]) {
    const decoded = event({ type: 'ADDED', object: { kind: 'Pod', metadata, spec: { a: 1 } } });
    const { managedFields: _, ...rest } = metadata;
    expect(decoded).toMatchObject({ type: 'applied', object: { kind: 'Pod', metadata: rest, spec: { a: 1 } } });
    expect(JSON.stringify(decoded)).not.toContain('managedFields');
    expect(decodeItem(bytesOf({ metadata, spec: {} }))).toMatchObject({ type: 'item', object: { metadata: rest, spec: {} } });
    expect(decodeItem(bytesOf(JSON.stringify({ metadata, spec: {} }, undefined, 2)))).toMatchObject({
      object: { metadata: rest, spec: {} },
    });
  }
  expect(decodeItem(bytesOf('{"metadata":{"managedFields":[]}}'))).toMatchObject({ type: 'unreadable' });
});

test('managedFields embedded deeper or within a string stay', () => {
  const embedded = { template: { metadata: { managedFields: [{ manager: 'theirs' }] } } };
  const annotations = { last: '{"metadata":{"managedFields":[1]}}', managedFields: 'mine' };
  const decoded = event({ type: 'ADDED', object: pod({ annotations }, { managedFields: ['top'], spec: embedded }) });
  expect(decoded).toMatchObject({ object: { spec: embedded, managedFields: ['top'], metadata: { annotations } } });
});

test('managedFields that are written with escapes, or twice, are cut too', () => {
  const line =
    '{"metadata":{"name":"a","managed\\u0046ields":[1],"managedFields":[2],"resourceVersion":"1"},"metadata":{"name":"b","managedFields":[3]}}';
  const decoded = decodeItem(bytesOf(line));
  expect(decoded).toMatchObject({ type: 'item', object: { metadata: { name: 'b' } } });
  expect(JSON.stringify(decoded)).not.toContain('managedFields');
});

test('managedFields with content that no API server writes are removed whole', () => {
  for (const odd of [[{ a: [{ b: 1 }], c: 1 }], [{ a: [{ b: 1 }] }, { d: ']' }], [], [[]], {}, null, 'x']) {
    expect(decodeItem(bytesOf({ metadata: { name: 'web', managedFields: odd, uid: 'u' }, spec: { a: 1 } }))).toMatchObject({
      type: 'item',
      object: { metadata: { name: 'web', uid: 'u' }, spec: { a: 1 } },
    });
  }
});

test('cutting and parsing equals parsing and deleting, for any object', () => {
  const odd = fc.constantFrom('}]},"spec":{', ']', '[', '\\', '{}', 'x');
  const managedFields = fc.array(fc.dictionary(odd, fc.oneof(odd, fc.dictionary(odd, odd), fc.array(odd))), { maxLength: 3 });
  const metadata = fc.dictionary(
    fc.constantFrom('annotations', 'managedFields', 'labels', 'x', '__proto__', 'é'),
    fc.oneof(fc.jsonValue({ maxDepth: 3 }), managedFields),
  );
  fc.assert(
    fc.property(metadata, fc.jsonValue({ maxDepth: 4 }), fc.boolean(), (more, spec, first) => {
      const whole = first ? { spec, metadata: { ...more, name: 'web' } } : { metadata: { name: 'web', ...more }, spec };
      const decoded = decodeItem(bytesOf(whole));
      const expected = JSON.parse(JSON.stringify(whole)) as { metadata: Record<string, unknown> };
      delete expected.metadata.managedFields;
      expect(decoded.type === 'item' ? JSON.stringify(decoded.object) : decoded).toEqual(JSON.stringify(expected));
    }),
  );
});

test('integers beyond 2⁵³ are exact when asked for, and prototypes are left alone', () => {
  const line =
    '{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","resourceVersion":"1","managedFields":[9007199254740993]},"spec":{"n":9223372036854775807,"__proto__":{"x":1}}}}';
  const decoded = decodeEvent(bytesOf(line), context);
  if (decoded.type !== 'applied') throw new Error('expected an object');
  const exact = decoded.exactly() as unknown as { spec: { n: Json } };
  expect(isRawNumber(exact.spec.n)).toBe(true);
  expect(JSON.stringify(exact)).toBe(
    '{"kind":"Pod","metadata":{"name":"a","resourceVersion":"1"},"spec":{"n":9223372036854775807,"__proto__":{"x":1}}}',
  );
  expect(({} as { x?: number }).x).toBeUndefined();
});

test('ten thousand levels are read, and read exactly or as they were', () => {
  const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
  const decoded = decodeItem(bytesOf(`{"metadata":{"name":"deep"},"spec":${deep}}`));
  if (decoded.type !== 'item') throw new Error('expected an object');
  expect(decoded.exactly().metadata.name).toBe('deep');
});

test('of repeated keys, the last one counts', () => {
  expect(decodeItem(bytesOf('{"metadata":{"name":"a","name":"b"}}'))).toMatchObject({ object: { metadata: { name: 'b' } } });
});

test('the identity read from the bytes is the one of the parsed object, in both orders of keys', () => {
  for (let index = 0; index < 50; index++) {
    const item = podOf(index);
    for (const bytes of [
      bytesOf(item),
      bytesOf({ kind: 'Pod', apiVersion: 'v1', ...item }),
      bytesOf(sorted({ ...item, kind: 'Pod', apiVersion: 'v1' })),
    ]) {
      const parsed = JSON.parse(bytes.toString()) as Json;
      expect(identityInBytes(bytes)).toEqual(isKubernetesObject(parsed) ? identityOf(parsed) : undefined);
      expect(identityInBytes(bytes)).toBeDefined();
    }
  }
});

test('the identity is the parsed one or none, for any metadata', () => {
  const text = fc.oneof(fc.stringMatching(/^[a-z0-9-]{0,6}$/), fc.string({ unit: 'binary', maxLength: 4 }));
  const metadata = fc.dictionary(
    fc.constantFrom('name', 'generateName', 'namespace', 'selfLink', 'uid', 'resourceVersion', 'labels', 'zone', 'annotations'),
    fc.oneof(text, fc.jsonValue({ maxDepth: 2 })),
  );
  fc.assert(
    fc.property(metadata, fc.boolean(), fc.constantFrom({}, { kind: 'Pod', apiVersion: 'v1' }), (found, order, head) => {
      const bytes = bytesOf({ ...head, metadata: order ? sorted(found) : found, spec: {} });
      const identity = identityInBytes(bytes);
      if (identity === undefined) return;
      const parsed = JSON.parse(bytes.toString()) as Json;
      if (!isKubernetesObject(parsed)) throw new Error('expected an object with a name');
      expect(identity).toEqual(identityOf(parsed));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  '',
  '{',
  '{}',
  'null',
  '[]',
  '{"metadata":',
  '{"metadata":{',
  '{"metadata":{"name":"a"',
  '{"metadata":{}}',
  '{"metadata":{"annotations":{},"name":"a","name":"b","resourceVersion":"1","uid":"u"}}',
  '{"spec":{},"metadata":{"name":"a","uid":"u","resourceVersion":"1"}}',
])('no identity in %s', (text) => {
  expect(identityInBytes(bytesOf(text))).toBeUndefined();
});
