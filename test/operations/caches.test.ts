import { randomBytes } from 'node:crypto';
import { buildSchema, parse } from 'graphql';
import type { LRUCache } from 'lru-cache';
import { describe, expect, test } from 'vitest';
import { createDocumentCache, createErrorCache } from '../../src/operations/engine.ts';
import { IntrospectionCache } from '../../src/operations/introspection-cache.ts';

/** Makes a text of this many characters that differs from all others. */
const textOf = (place: number, length: number) => `${place} `.padEnd(length, 'x');
const kib = 1 << 10;

/** Returns how many of `count` different texts of this length are still cached. The last one must be. */
function heldOf<T extends object>(
  cache: LRUCache<string, T>,
  values: { readonly count: number; readonly length: number; readonly value: T },
): number {
  const { count, length, value } = values;
  const texts = Array.from({ length: count }, (_, place) => textOf(place, length));
  for (const text of texts) cache.set(text, value);
  const held = texts.filter((text) => cache.get(text) !== undefined);
  if (held.length > 0) expect(held.at(-1)).toBe(texts.at(-1));
  return held.length;
}

describe('parsed documents', () => {
  const value = parse('{ hello }');

  test.each([
    ['1,024 short ones', 100, 1_024],
    // 64 MiB at 70 bytes per character.
    ['64 MiB of long ones', 64 * kib, 14],
    ['64 MiB of middling ones', 4 * kib, 234],
    ['none longer than 64 KiB', 64 * kib + 1, 0],
  ])('are kept up to %s', (_, length, held) => {
    expect(heldOf(createDocumentCache(), { count: 2_000, length, value })).toBe(held);
  });
});

describe('parse errors', () => {
  const value = new Error('expected a document');

  test.each([
    ['256 short ones', 100, 256],
    // 4 MiB at 2 bytes per character.
    ['4 MiB of long ones', 64 * kib, 32],
    ['none longer than 64 KiB', 64 * kib + 1, 0],
  ])('are kept up to %s', (_, length, held) => {
    expect(heldOf(createErrorCache(), { count: 600, length, value })).toBe(held);
  });
});

describe('answers to introspection', () => {
  const schema = buildSchema('type Query { hello: String }');
  const madeFor = async (cache: IntrospectionCache, query: string, of = schema) => {
    let made = 0;
    await cache.answerFor(of, { query }, async () => {
      made++;
      return Buffer.from('{}');
    });
    return made;
  };

  test('are kept for the 8 documents that were requested last, per schema', async () => {
    const cache = new IntrospectionCache();
    for (let place = 0; place < 20; place++) expect(await madeFor(cache, textOf(place, 100))).toBe(1);
    for (let place = 12; place < 20; place++) expect(await madeFor(cache, textOf(place, 100))).toBe(0);
    expect(await madeFor(cache, textOf(11, 100)), 'the ninth').toBe(1);
    expect(await madeFor(cache, textOf(19, 100), buildSchema('type Query { bye: String }')), 'another schema').toBe(1);
  });

  test('are kept up to 64 MiB, and one that is larger is not kept', async () => {
    const cache = new IntrospectionCache();
    const ask = (query: string, mib: number) => cache.answerFor(schema, { query }, async () => randomBytes(mib << 20));
    for (let place = 0; place < 8; place++) await ask(`${place}`, 12);
    expect(cache.bytes).toBeGreaterThan(48 << 20);
    expect(cache.bytes).toBeLessThanOrEqual(64 << 20);
    expect([await madeFor(cache, '7'), await madeFor(cache, '0')]).toEqual([0, 1]);
    await ask('whole', 65);
    expect(await madeFor(cache, 'whole')).toBe(1);
  });

  test('are made each time for a document longer than 64 KiB', async () => {
    const cache = new IntrospectionCache();
    for (const _ of ['first', 'second']) expect(await madeFor(cache, textOf(0, 64 * kib + 1))).toBe(1);
    for (const made of [1, 0]) expect(await madeFor(cache, textOf(0, 63 * kib))).toBe(made);
  });

  test('are not kept if they failed', async () => {
    const cache = new IntrospectionCache();
    await expect(cache.answerFor(schema, { query: 'q' }, () => Promise.reject(new Error('not this time')))).rejects.toThrow(
      'not this time',
    );
    expect(await madeFor(cache, 'q')).toBe(1);
  });
});
