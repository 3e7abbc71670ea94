import { expect, test } from 'vitest';
import { EventDecoder } from './event-decoder.ts';
import { FrameDecoder } from './frame-decoder.ts';

/** Creates a frame of a server, which is not masked. */
function frame(payload: string, opcode = 1): Buffer {
  const bytes = Buffer.from(payload);
  const size = bytes.length;
  if (size < 126) return Buffer.concat([Buffer.from([128 | opcode, size]), bytes]);
  if (size <= 0xffff) return Buffer.concat([Buffer.from([128 | opcode, 126, size >> 8, size & 255]), bytes]);
  const head = Buffer.alloc(10);
  head[0] = 128 | opcode;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(size), 2);
  return Buffer.concat([head, bytes]);
}

const payloads = ['', 'a', 'b'.repeat(125), 'c'.repeat(126), 'd'.repeat(65_535), 'e'.repeat(65_536), 'ü'];

function inParts(bytes: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

test.for([1, 7, 1_000, 1_000_000])('frames are whole again, however they are cut: by %d bytes', (size) => {
  const told: string[] = [];
  const decoder = new FrameDecoder((_, payload) => told.push(payload.toString('utf8')));
  for (const part of inParts(Buffer.concat(payloads.map((payload) => frame(payload))), size)) decoder.push(part);
  expect(told).toEqual(payloads);
});

test.for([1, 7, 1_000])('frames are counted in chunks of any size: %d bytes; control frames are read too', (size) => {
  const told: string[] = [];
  const decoder = new FrameDecoder((opcode, payload) => told.push(`${opcode} ${payload.toString('utf8')}`));
  decoder.whole = false;
  for (const part of inParts(Buffer.concat([...payloads.map((payload) => frame(payload)), frame('beat', 9)]), size)) decoder.push(part);
  expect(told).toEqual([...payloads.map(() => '1 '), '9 beat']);
});

const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const events = [':\n\n', 'event: next\ndata: {"a":1}\n\n', 'event: next\ndata: {"a":2}\n\nevent: complete\ndata:\n\n'];

test.for([1, 5, 1_000])('events are whole again, however they are cut: by %d bytes', (size) => {
  const told: string[] = [];
  const decoder = new EventDecoder((type, payload) => told.push(`${type} ${payload}`));
  for (const part of inParts(Buffer.from(head + events.map(chunk).join('')), size)) decoder.push(part);
  expect(told).toEqual(['next {"a":1}', 'next {"a":2}', 'complete ']);
});

test.for([1, 5, 13, 1_000])('events are counted, however they are cut: by %d bytes', (size) => {
  let counted = 0;
  const decoder = new EventDecoder(() => {
    counted += 1;
  });
  decoder.push(Buffer.from(head));
  decoder.countOnly();
  for (const part of inParts(Buffer.from(chunk('event: next\ndata: {"a":1}\n\n').repeat(10)), size)) decoder.push(part);
  expect(counted).toBe(10);
});

test('an answer that is no stream is refused with its head', () => {
  const told: string[] = [];
  new EventDecoder((type) => told.push(type)).push(Buffer.from('HTTP/1.1 429 Too Many Requests\r\n\r\n'));
  expect(told).toEqual(['refused']);
});
