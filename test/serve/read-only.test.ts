import { buildSchema } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { askForEvents } from '../support/clients/event-client.ts';
import { startServing } from '../support/serving/start-serving.ts';
import { TestSocket } from '../support/serving/start-web-sockets.ts';

let edge: Awaited<ReturnType<typeof startServing>>;
beforeAll(async () => {
  const schema = buildSchema('type Query { hello: String } type Mutation { change: String }');
  edge = await startServing({ schema: () => schema, config: { readOnly: true } });
});
afterAll(() => edge[Symbol.asyncDispose]());

const mutation = { query: 'query Q { hello } mutation M { change }', operationName: 'M' };
const refused = { message: expect.stringContaining('read-only'), extensions: { code: 'FORBIDDEN', requestId: expect.any(String) } };

test('a read-only gateway refuses mutations over HTTP, and answers queries of the same document (E11)', async () => {
  const { errors } = (await (await edge.post(JSON.stringify(mutation))).json()) as { readonly errors: object };
  expect(errors).toEqual([refused]);
  const answer = await (await edge.post(JSON.stringify({ ...mutation, operationName: 'Q' }))).json();
  expect(answer).toEqual({ data: { hello: null } });
});

test('a read-only gateway refuses mutations over server-sent events (E11)', async () => {
  using answer = await askForEvents(edge.url, mutation);
  await expect.poll(() => answer.isOver()).toBe(true);
  expect(answer.text()).toContain('"FORBIDDEN"');
});

test('a read-only gateway refuses mutations over WebSocket (E11)', async () => {
  const socket = await TestSocket.open(edge.url.replace('http', 'ws'));
  socket.say({ type: 'connection_init' });
  await socket.until(({ type }) => type === 'connection_ack');
  socket.say({ type: 'subscribe', id: '1', payload: mutation });
  const { payload } = await socket.until(({ type }) => type === 'error');
  expect(payload).toEqual([refused]);
});
