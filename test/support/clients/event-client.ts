import { once } from 'node:events';
import http from 'node:http';
import { connect, type Socket } from 'node:net';
import { vi } from 'vitest';

/** One received event: its name, and its data as JSON if it has any. */
export interface SentEvent {
  readonly event: string;
  readonly data:
    | { readonly data?: unknown; readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[] }
    | undefined;
}

/** One request for server-sent events, over a connection of its own. */
export interface EventClient extends Disposable {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Returns all received text, without the chunk framing of HTTP. */
  text(): string;
  events(): readonly SentEvent[];
  /** Resolves when this many events have arrived. */
  until(count: number): Promise<readonly SentEvent[]>;
  /** True if the answer is complete or was cut off. */
  isOver(): boolean;
  isCut(): boolean;
  /** Stops reading, so that the server's buffers fill up. */
  pause(): void;
  resume(): void;
}

/** Requests events. Resolves with the headers of the answer. */
export async function askForEvents(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<EventClient> {
  const request = http.request(url, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
  });
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  request.end(JSON.stringify(body));
  const answer = await answered;
  request.on('error', () => undefined);
  let text = '';
  let over: 'whole' | 'cut' | undefined;
  answer.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  answer.once('end', () => {
    over = 'whole';
  });
  answer.once('error', () => {
    over ??= 'cut';
  });
  const events = () => eventsIn(text);
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    text: () => text,
    events,
    until: async (count) => {
      await vi.waitUntil(() => events().length >= count);
      return events();
    },
    isOver: () => over !== undefined,
    isCut: () => over === 'cut',
    pause: () => void answer.pause(),
    resume: () => void answer.resume(),
    [Symbol.dispose]: () => {
      request.destroy();
    },
  };
}

/** Returns the events of a text by the specification of server-sent events. Comments are not events. */
export function eventsIn(text: string): readonly SentEvent[] {
  const blocks = text.split('\n\n').slice(0, -1);
  return blocks.flatMap((block) => {
    const lines = block.split('\n').filter((line) => !line.startsWith(':'));
    if (lines.length === 0) return [];
    const fieldOf = (name: string) =>
      lines
        .filter((line) => line.startsWith(`${name}:`))
        .map((line) => line.slice(name.length + 1).replace(/^ /, ''))
        .join('\n');
    const data = fieldOf('data');
    return [{ event: fieldOf('event'), data: data === '' ? undefined : JSON.parse(data) }];
  });
}

/** Opens a connection on which a test writes and reads bytes. */
export async function rawConnection(port: number) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  return { socket, text: () => text, waitFor: (pattern: RegExp) => vi.waitUntil(() => pattern.test(text)) };
}

/** Sends a POST request in one write. */
export function postOn(socket: Socket, query: string, { version = '1.1', accept = 'text/event-stream' } = {}): void {
  const body = JSON.stringify({ query });
  socket.write(
    `POST /graphql HTTP/${version}\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: ${accept}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}
