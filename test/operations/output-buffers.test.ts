import { expect, test } from 'vitest';
import { OutputBuffers } from '../../src/operations/output-buffers.ts';

test('writes texts in order, also beyond the expected length', () => {
  const buffers = new OutputBuffers();
  const texts = Array.from({ length: 3_000 }, (_, n) => `${n} ünï 😀 ${'x'.repeat(n % 97)}`);
  const writer = buffers.write(1_000);
  for (const text of texts) writer.add(text);
  const pieces = writer.end();
  expect(Buffer.concat(pieces).toString()).toBe(texts.join(''));
  expect(writer.length).toBe(Buffer.byteLength(texts.join('')));
});

test('a released buffer is used again, and never twice at a time', () => {
  const buffers = new OutputBuffers();
  const written = (text: string) => {
    const writer = buffers.write(100_000);
    writer.add(text);
    return writer.end();
  };
  const first = written('first');
  buffers.release(first);
  buffers.release(first);
  const [second, third] = [written('second'), written('third')];
  expect(second[0]?.buffer).toBe(first[0]?.buffer);
  expect(String(second[0])).toBe('second');
  expect(String(third[0])).toBe('third');
});

test('ignores buffers of others', () => {
  const buffers = new OutputBuffers();
  const foreign = Buffer.alloc(65_536);
  buffers.release([foreign]);
  expect(buffers.take(65_536).buffer).not.toBe(foreign.buffer);
});
