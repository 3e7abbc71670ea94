import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseOperationBody } from '../../../src/operations/operation-request.ts';
import { rawRequest, startServing } from '../../support/serving/start-serving.ts';

let edge: Awaited<ReturnType<typeof startServing>>;
beforeAll(async () => {
  const echo = { type: GraphQLString, args: { text: { type: GraphQLString } }, resolve: (_: unknown, { text }: { text?: string }) => text };
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { echo, hello: { type: GraphQLString, resolve: () => 'world' } } }),
  });
  edge = await startServing({ schema: () => schema });
});
afterAll(() => edge[Symbol.asyncDispose]());

const hello = '{"query":"{ hello }"}';
const json = { 'content-type': 'application/json' };
const alive = async () => expect((await edge.ask('{ hello }')).data).toEqual({ hello: 'world' });

describe('A4: media types, encodings and sizes', () => {
  test.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/graphql', 415],
    ['application/json; charset=utf-16', 415],
    ['application/json; charset="utf-8"', 200],
    ['Application/JSON;charset=UTF-8', 200],
    ['application/json, text/plain', 415],
  ])('%s is %i', async (type, status) => {
    expect((await edge.post(hello, { 'content-type': type })).status).toBe(status);
  });

  test('no content type is refused', async () => {
    expect((await rawRequest(edge.url, { method: 'POST', body: hello })).status).toBe(415);
  });

  test('a compressed body is refused without being read', async () => {
    expect((await edge.post(gzipSync(hello), { 'content-encoding': 'gzip' })).status).toBe(415);
  });

  test('4 MiB are read, one more byte is refused', async () => {
    const body = (bytes: number) => hello.replace('}"}', `}"${' '.repeat(bytes - hello.length)}}`);
    expect((await edge.post(body(4 << 20))).status).toBe(200);
    expect((await edge.post(body((4 << 20) + 1))).status).toBe(413);
    await alive();
  });

  test('a body without a length is counted while it arrives', async () => {
    const chunk = Buffer.alloc(1 << 20, ' ');
    const stream = (chunks: number) =>
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          controller.enqueue(Buffer.from(hello));
          for (let sent = 0; sent < chunks; sent++) controller.enqueue(chunk);
          controller.close();
        },
      });
    const post = (chunks: number) =>
      fetch(edge.url, { method: 'POST', body: stream(chunks), headers: json, duplex: 'half' } as RequestInit);
    expect((await post(3)).status).toBe(200);
    expect((await post(5)).status).toBe(413);
    await alive();
  });

  test('a length above the bound is refused before the body arrives', async () => {
    const head = `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n`;
    expect(await firstLineOf(head)).toBe('HTTP/1.1 413 Payload Too Large');
  });

  test('a body shorter than its length ends with its connection, and harms no other request', async () => {
    const head = `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"query":`;
    const socket = connect(edge.serving.port, '127.0.0.1', () => socket.end(head));
    await new Promise((resolve) => socket.once('close', resolve).resume());
    await alive();
  });
});

describe('A5 and A1: bodies that are not text, not JSON or not an operation', () => {
  const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  test.each([
    ['invalid UTF-8', bytes('{"query":"{ hello }","x":"', [0xc3, 0x28], '"}')],
    ['half a surrogate pair in UTF-8', bytes('{"query":"{ hello }","x":"', [0xed, 0xa0, 0x80], '"}')],
    ['half a surrogate pair, escaped', bytes('{"query":"query($t:String){echo(text:$t)}","variables":{"t":"\\ud800"}}')],
    ['half a surrogate pair as a key', bytes('{"query":"{ hello }","variables":{"\\udfff":1}}')],
    ['NUL, escaped', bytes('{"query":"query($t:String){echo(text:$t)}","variables":{"t":"a\\u0000b"}}')],
    ['NUL', bytes('{"query":"{ hello }","x":"', [0], '"}')],
    ['a byte order mark', bytes([0xef, 0xbb, 0xbf], hello)],
    ['UTF-16', Buffer.from(hello, 'utf16le')],
    ['half a JSON', bytes('{"query":')],
    ['nothing', bytes('')],
    ['null', bytes('null')],
    ['a batch', bytes(`[${hello}]`)],
    ['no query', bytes('{}')],
    ['a query that is no text', bytes('{"query":{}}')],
    ['variables that are a list', bytes('{"query":"{ hello }","variables":[]}')],
    ['extensions that are text', bytes('{"query":"{ hello }","extensions":"x"}')],
    ['an operation name that is a number', bytes('{"query":"{ hello }","operationName":1}')],
  ])('%s is 400, with what was expected', async (_, body) => {
    const answer = await edge.post(body);
    expect(answer.status).toBe(400);
    const { errors } = (await answer.json()) as { errors: { message: string; extensions: { code: string } }[] };
    expect(errors).toHaveLength(1);
    expect(errors[0]?.extensions.code).toBe('BAD_INPUT');
  });

  test('an escaped surrogate pair is a character like any other', async () => {
    const answer = await edge.post('{"query":"query($t:String){echo(text:$t)}","variables":{"t":"\\ud83d\\ude00"}}');
    expect(await answer.json()).toEqual({ data: { echo: '😀' } });
  });
});

describe('A3: depth', () => {
  test.each([
    ['a JSON variable of 100,000 levels', `{"query":"{ hello }","variables":{"x":${'['.repeat(1e5)}${']'.repeat(1e5)}}}`],
    ['a JSON variable of 1,000,000 levels that never ends', `{"query":"{ hello }","variables":{"x":${'{"a":'.repeat(1e6 / 8)}`],
    ['a literal of 20,000 levels', JSON.stringify({ query: `{ echo(text: ${'['.repeat(2e4)}${']'.repeat(2e4)}) }` })],
    ['selections of 20,000 levels', JSON.stringify({ query: '{ hello '.repeat(2e4) + '}'.repeat(2e4) })],
  ])('%s is refused', async (_, body) => {
    const answer = await edge.post(body, { accept: 'application/graphql-response+json' });
    expect(answer.status).toBe(400);
    await alive();
  });

  test('brackets within strings are not counted as levels', async () => {
    const text = `"[{\\"${'[{'.repeat(500)}`;
    expect((await edge.ask('query($text: String) { echo(text: $text) }', { text })).data).toEqual({ echo: text });
  });
});

describe('A6: names with a meaning in JavaScript', () => {
  test.each(['__proto__', 'constructor', 'prototype', 'toString'])('%s is plain data', async (name) => {
    const body = `{"query":"query($t:String){echo(text:$t)}","variables":{"t":"x","${name}":"y"},"${name}":{"x":1},"extensions":{"${name}":{"x":1}}}`;
    expect(await (await edge.post(body)).json()).toEqual({ data: { echo: 'x' } });
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });
});

test('A10: an integer beyond 2⁵³ stays exact', () => {
  const { variables } = parseOperationBody(
    Buffer.from('{"query":"{a}","variables":{"n":9007199254740993,"s":"9007199254740993","f":1.5,"deep":[{"n":-9007199254740993}]}}'),
  );
  expect(JSON.stringify(variables)).toBe('{"n":9007199254740993,"s":"9007199254740993","f":1.5,"deep":[{"n":-9007199254740993}]}');
});

function firstLineOf(head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(edge.serving.port, '127.0.0.1', () => socket.write(head));
    socket.once('error', reject).once('data', (data) => {
      socket.destroy();
      resolve(data.toString('latin1').split('\r\n', 1)[0] ?? '');
    });
  });
}
