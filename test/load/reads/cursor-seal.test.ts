import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSeal } from '../../../src/load/reads/cursor-seal.ts';

const scope = { callerKey: 'me', filter: 'f' };

test('opens a cursor with the same key and scope, also in another process', () => {
  const key = new Uint8Array(32).fill(7);
  fc.assert(
    fc.property(fc.uint8Array(), fc.string(), fc.string(), (content, callerKey, filter) => {
      const cursor = createSeal(key).close(content, { callerKey, filter });
      expect(cursor).toMatch(/^[\w-]+$/);
      expect([...createSeal(key).open(cursor, { callerKey, filter })]).toEqual([...content]);
    }),
  );
});

test('caller and filter cannot be mistaken for each other', () => {
  const seal = createSeal(new Uint8Array(32));
  const cursor = seal.close(new Uint8Array([1]), { callerKey: 'ab', filter: 'c' });
  expect(() => seal.open(cursor, { callerKey: 'a', filter: 'bc' })).toThrow('expected a cursor');
});

test('a cursor with any changed bit is refused', () => {
  const seal = createSeal(new Uint8Array(32));
  const bytes = Buffer.from(seal.close(new TextEncoder().encode('position'), scope), 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(() => seal.open(changed.toString('base64url'), scope)).toThrow('expected a cursor');
  }
});

test('recognises a cursor of the same stream with another key, unless it was changed', () => {
  const [ours, theirs] = [createSeal(new Uint8Array(32)), createSeal(new Uint8Array(32).fill(1))];
  const stream = { stream: 'pods' };
  const cursor = theirs.close(new TextEncoder().encode('position'), stream);
  expect([ours.isOfOtherKey(cursor, stream), theirs.isOfOtherKey(cursor, stream)]).toEqual([true, false]);
  expect(() => ours.open(cursor, stream)).toThrow('expected a cursor');
  expect(new TextDecoder().decode(theirs.open(cursor, stream))).toBe('position');
  expect(ours.isOfOtherKey(cursor, { stream: 'jobs' })).toBe(false);
  expect(ours.isOfOtherKey(theirs.close(new Uint8Array(50), scope), stream)).toBe(false);
  for (const text of ['', 'bm9uc2Vuc2U', 'x'.repeat(200), `${cursor}=`, cursor.slice(2)])
    expect(ours.isOfOtherKey(text, stream)).toBe(false);
  const bytes = Buffer.from(cursor, 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(ours.isOfOtherKey(changed.toString('base64url'), stream)).toBe(false);
    expect(() => theirs.open(changed.toString('base64url'), stream)).toThrow('expected a cursor');
  }
});

test('a cursor in any other spelling is refused', () => {
  const seal = createSeal(new Uint8Array(32));
  const cursor = seal.close(new TextEncoder().encode('a position'), scope);
  const bits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const idle = bits[bits.indexOf(cursor.at(-1) ?? '') ^ 1] ?? '';
  const spellings = [`${cursor}=`, `${cursor}${'='.repeat(50_000)}`, ` ${cursor}`, `${cursor}!`, cursor.slice(0, -1) + idle];
  for (const spelling of spellings) {
    if (spelling.endsWith(idle)) expect(Buffer.from(spelling, 'base64url')).toEqual(Buffer.from(cursor, 'base64url'));
    expect(() => seal.open(spelling, scope)).toThrow('expected a cursor');
  }
  expect(seal.open(cursor, scope)).toEqual(Buffer.from('a position'));
});

test('refuses a key that is too short', () => {
  expect(() => createSeal(new Uint8Array(16))).toThrow('a key of 32 bytes is needed, not of 16');
});
