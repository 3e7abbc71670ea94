import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLineFramer, type Framer } from '../../../src/cluster/decoding/frames.ts';
import { createListFramer } from '../../../src/cluster/decoding/list-frames.ts';

/** Cuts bytes into chunks of these sizes, repeatedly. */
function deal(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    chunks.push(Uint8Array.from(bytes.subarray(at, at + size)));
    at += size;
  }
  return chunks;
}

function texts(framer: Framer, chunks: readonly Uint8Array[]): string[] {
  return chunks.flatMap((chunk) => framer.push(chunk).frames.map((frame) => Buffer.from(frame).toString('utf8')));
}

const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(10_000)), { minLength: 1, maxLength: 8 });
const json = fc.jsonValue({ maxDepth: 4, noUnicodeString: false });
/** Texts that may mislead the search for the end of managedFields. */
const treacherous = fc.constantFrom('"managedFields":[{', '}]},"spec":{', '}],"a":', ']', '[', '\\', 'x\\"managedFields', '{}');
const key = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('managedFields', 'metadata', 'spec') },
  treacherous,
  fc.string({ unit: 'binary' }),
);
const entry = fc.dictionary(fc.oneof(fc.constantFrom('fieldsV1', 'manager'), key), fc.oneof(treacherous, json), { maxKeys: 4 });
const fields = fc.oneof(json, treacherous, fc.array(entry, { maxLength: 3 }));
const object = fc.dictionary(key, fc.oneof(fields, fc.dictionary(key, fields, { maxKeys: 4 })), { maxKeys: 5 });

test('lines are the same however the bytes are split into chunks', () => {
  fc.assert(
    fc.property(fc.array(json), sizes, (values, dealt) => {
      const lines = values.map((value) => JSON.stringify(value));
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      expect(texts(createLineFramer(), deal(bytes, dealt))).toEqual(lines);
    }),
  );
});

test('empty lines are skipped, and an incomplete last line is never returned', () => {
  expect(texts(createLineFramer(), [Buffer.from('\n{"a":1}\n\n{"b":'), Buffer.from('2}\n{"half')])).toEqual(['{"a":1}', '{"b":2}']);
});

test('a line is refused as soon as it exceeds the bound, in one chunk or in several', () => {
  const whole = createLineFramer(8).push(Buffer.from('12345678\n123456789\n'));
  expect({ ...whole, frames: whole.frames.length }).toEqual({ frames: 1, broken: 'TOO_LARGE' });
  const dealt = createLineFramer(8);
  expect(dealt.push(Buffer.from('12345')).broken).toBeUndefined();
  expect(dealt.push(Buffer.from('6789')).broken).toBe('TOO_LARGE');
});

test('items of a list are the same however the bytes are split into chunks, in either order of keys', () => {
  const metadata = fc.record({ resourceVersion: fc.stringMatching(/^[1-9]\d{0,6}$/), note: json });
  fc.assert(
    fc.property(fc.array(object), metadata, fc.boolean(), fc.constantFrom(undefined, 2), sizes, (items, head, sorted, space, dealt) => {
      const list = sorted
        ? { apiVersion: 'v1', items, kind: 'ThingList', metadata: head }
        : { kind: 'ThingList', apiVersion: 'v1', metadata: head, items };
      const framer = createListFramer();
      const found = texts(framer, deal(Buffer.from(JSON.stringify(list, undefined, space)), dealt));
      expect(found.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(items)));
      expect(framer.end()).toEqual({ version: head.resourceVersion });
    }),
    { numRuns: 500 },
  );
});

test('version, token and remaining count are read before and after the items', () => {
  const metadata = '"metadata":{"resourceVersion":"7","continue":"abc","remainingItemCount":12}';
  for (const text of [
    `{"kind":"PodList",${metadata},"items":[{"a":1}]}`,
    `{"apiVersion":"v1","items":[{"a":1}],"kind":"PodList",${metadata}}\n`,
  ]) {
    const framer = createListFramer();
    expect(texts(framer, [Buffer.from(text)])).toEqual(['{"a":1}']);
    expect(framer.end()).toEqual({ version: '7', continue: 'abc', remaining: 12 });
  }
});

test('only the items of the list itself are items', () => {
  const framer = createListFramer();
  const text = '{"kind":"PodList","metadata":{"items":[{"no":1}],"x":"\\"items\\":["},"other":[{"no":2}],"items":[{"items":[{"in":1}]}]}';
  expect(texts(framer, [Buffer.from(text)])).toEqual(['{"items":[{"in":1}]}']);
  expect(framer.end()).toEqual({});
});

test('managedFields with content that no API server writes do not end an item early', () => {
  const items = [{ metadata: { managedFields: [{ a: [{ b: 1 }], c: 1 }], z: 1 } }, { metadata: { managedFields: [{ a: ']},"x' }], z: 1 } }];
  const framer = createListFramer();
  expect(texts(framer, [Buffer.from(JSON.stringify({ kind: 'PodList', items }))]).map((text) => JSON.parse(text))).toEqual(items);
  expect(framer.end()).toEqual({});
});

test('an empty list may say null', () => {
  const framer = createListFramer();
  expect(texts(framer, [Buffer.from('{"kind":"PodList","metadata":{"resourceVersion":"3"},"items":null}')])).toEqual([]);
  expect(framer.end()).toEqual({ version: '3' });
});

test.each([
  ['cut off', '{"kind":"PodList","metadata":{"resourceVersion":"3"},"items":[{"a":1}'],
  ['a Table', '{"kind":"Table","metadata":{"resourceVersion":"3"},"rows":[{"a":1}]}'],
  ['a Status', '{"kind":"Status","metadata":{},"status":"Failure"}'],
  ['an array', '[{"items":[]}]'],
  ['text', 'hello'],
  ['nothing', ''],
  ['followed by more', '{"kind":"PodList","metadata":{},"items":[]}{}'],
  ['not UTF-8', Buffer.from('{"kind":"PodList","metadata":{"resourceVersion":"\xff"},"items":[]}', 'latin1')],
])('no list: %s', (_name, text) => {
  const framer = createListFramer();
  framer.push(Buffer.from(text));
  expect(framer.end()).toBeUndefined();
});

test('an item that is no object is malformed', () => {
  for (const item of ['null', '1', '"x"', '[1]']) {
    expect(createListFramer().push(Buffer.from(`{"kind":"PodList","items":[{"a":1},${item}`))).toMatchObject({ broken: 'MALFORMED' });
  }
});

test('an item, and the bytes around the items, have a bound', () => {
  const small = '{"kind":"PodList","items":[{"a":1},{"a":"0123456789"}]}';
  expect(createListFramer(40).push(Buffer.from(small)).broken).toBeUndefined();
  const large = createListFramer(40);
  expect(large.push(Buffer.from(`{"kind":"PodList","items":[{"a":"${'x'.repeat(50)}`)).broken).toBe('TOO_LARGE');
  expect(createListFramer(40).push(Buffer.from(`{"kind":"PodList","metadata":{"note":"${'x'.repeat(50)}`)).broken).toBe('TOO_LARGE');
});
