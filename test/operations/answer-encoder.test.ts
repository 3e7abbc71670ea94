import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { parseJsonExactly } from '../../src/core/json.ts';
import { createQueueBudget } from '../../src/load/queue-budget.ts';
import { AnswerEncoder, type AnswerEncoderOptions } from '../../src/operations/answer-encoder.ts';

const { signal } = new AbortController();

async function textOf(data: Record<string, unknown>, options: Partial<AnswerEncoderOptions> = {}): Promise<string> {
  const encoder = new AnswerEncoder({ clock: systemClock, ...options });
  return Buffer.concat(await encoder.encode({ data }, signal)).toString();
}

const long = 'x"\n'.repeat(200_000);
const many = Array.from({ length: 60_000 }, (_, n) => ({ n, name: `pod-${n}`, labels: null }));

describe('an answer', () => {
  test.each<[string, Record<string, unknown>]>([
    ['a small one', { a: [1, null, undefined, { b: undefined, c: 'ü' }], d: {} }],
    ['long texts', { a: long, b: [long, long], c: long }],
    ['many small objects', { pods: { items: many, next: null } }],
    ['large and small elements in turn', { a: [1, long, 2, [], {}, long, many, 'end'], b: undefined, c: [many, many] }],
    ['integers beyond 2^53', { a: parseJsonExactly('{"n":9007199254740993}'), b: [long, long, parseJsonExactly('[9007199254740995]')] }],
    ['an object without prototype', Object.assign(Object.create(null), { toString: long, a: [many, { constructor: long }] })],
    ['keys that are numbers', { 2: long, 1: long, a: long }],
  ])('has the text of JSON.stringify: %s', async (_what, data) => {
    expect((await textOf(data)) === JSON.stringify({ data })).toBe(true);
  });

  test('that is long is encoded in slices, while timers run', async () => {
    let turns = 0;
    const interval = setInterval(() => turns++, 1);
    await textOf({ a: Array.from({ length: 8 }, () => many) });
    clearInterval(interval);
    expect(turns).toBeGreaterThan(5);
  });

  test('over the bound is refused before the rest is encoded', async () => {
    const maxBytes = 2 << 20;
    const refused = textOf({ a: Array.from({ length: 100_000 }, () => many) }, { maxBytes });
    await expect(refused).rejects.toMatchObject({ code: 'TOO_COSTLY', message: expect.stringContaining('at most 2097152 bytes') });
    await expect(textOf({ a: 'x'.repeat(100) }, { maxBytes: 50 })).rejects.toMatchObject({ code: 'TOO_COSTLY' });
  });

  test('stops when its client has gone', async () => {
    const gone = new AbortController();
    const encoder = new AnswerEncoder({ clock: systemClock });
    const encoding = encoder.encode({ data: { a: Array.from({ length: 1_000 }, () => many) } }, gone.signal);
    setImmediate(() => gone.abort(new Error('gone')));
    await expect(encoding).rejects.toThrow('gone');
  });

  test('is refused as OVERLOADED if all unsent answers together are too large, and frees its bytes', async () => {
    const unsent = createQueueBudget(1 << 20);
    await expect(textOf({ a: [many, many] }, { unsent })).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(unsent.bytes).toBe(0);
    await textOf({ a: many }, { unsent: createQueueBudget() });
  });
});
