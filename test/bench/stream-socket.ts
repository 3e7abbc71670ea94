import { connect, type Socket } from 'node:net';
import { EventDecoder } from './event-decoder.ts';
import { clientFrame, FrameDecoder, opcodes } from './frame-decoder.ts';

export interface StreamSocketListener {
  /**
   * Receives a message: over WebSocket its whole JSON, over server-sent events the payload of a `next`. Empty while messages are only
   * counted.
   */
  message(text: string): void;
  /** Called once, when the connection has ended, with the reason as far as it is known. */
  closed(reason: string): void;
}

/** One connection of a bench's client. */
export interface StreamSocket {
  /** Sends a message of the protocol. Not possible over server-sent events. */
  send(text: string): void;
  /** Switches to counting: from now on messages are not read. */
  countOnly(): void;
  /** Stops reading until `resume`. */
  pause(): void;
  resume(): void;
  destroy(): void;
}

// One buffer for all sockets. The callback has read the bytes when it returns.
const shared = Buffer.allocUnsafe(1 << 18);

const upgraded = '\r\n\r\n';

/** Opens a WebSocket with the graphql-transport-ws subprotocol. Pings are answered. */
export function openWebSocket(port: number, listener: StreamSocketListener): StreamSocket {
  const ended = once(listener.closed);
  let head: string | undefined = '';
  const decoder = new FrameDecoder((opcode, payload) => {
    if (opcode === opcodes.text) return listener.message(payload.toString('utf8'));
    if (opcode === opcodes.ping) socket.write(clientFrame(payload, 10));
    if (opcode === opcodes.close) {
      ended(payload.length < 2 ? 'closed' : `${payload.readUInt16BE(0)} ${payload.toString('utf8', 2)}`);
      socket.destroy();
    }
  });
  const socket = dial(port, ended, (bytes) => {
    if (head === undefined) return decoder.push(bytes);
    head += bytes.toString('latin1');
    const end = head.indexOf(upgraded);
    if (end === -1) return;
    if (!head.startsWith('HTTP/1.1 101')) {
      ended(statusLine(head));
      return socket.destroy();
    }
    const rest = Buffer.from(head.slice(end + upgraded.length), 'latin1');
    head = undefined;
    if (rest.length > 0) decoder.push(rest);
  });
  socket.write(
    `GET /graphql HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Key: ${Buffer.alloc(16, 'k').toString('base64')}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n`,
  );
  return {
    ...handleOf(socket),
    send: (text) => void socket.write(clientFrame(text)),
    countOnly: () => {
      decoder.whole = false;
    },
  };
}

/** Opens a stream of server-sent events (graphql-sse, distinct connections). */
export function openEventStream(port: number, request: object, listener: StreamSocketListener): StreamSocket {
  const ended = once(listener.closed);
  const body = JSON.stringify(request);
  const decoder = new EventDecoder((type, payload) => {
    if (type === 'next') return listener.message(payload);
    ended(type === 'refused' ? statusLine(payload) : type);
    socket.destroy();
  });
  const socket = dial(port, ended, (bytes) => decoder.push(bytes));
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return { ...handleOf(socket), send: () => undefined, countOnly: () => decoder.countOnly() };
}

export interface RawListener extends Pick<StreamSocketListener, 'closed'> {
  /** Receives the next bytes. The buffer is reused after the call. */
  read(bytes: Buffer): void;
}

/** Opens a connection to a server that writes without a request. */
export function openRaw(port: number, listener: RawListener): StreamSocket {
  const socket = dial(port, once(listener.closed), listener.read);
  return { ...handleOf(socket), send: () => undefined, countOnly: () => undefined };
}

function dial(port: number, ended: (reason: string) => void, read: (bytes: Buffer) => void): Socket {
  const socket = connect({
    port,
    host: '127.0.0.1',
    onread: {
      buffer: shared,
      callback: (length, buffer) => {
        read(Buffer.from(buffer.buffer, buffer.byteOffset, length));
        return true;
      },
    },
  });
  socket.setNoDelay(true);
  return socket.once('error', (error) => ended(error.message)).once('close', () => ended('cut'));
}

function handleOf(socket: Socket): Pick<StreamSocket, 'pause' | 'resume' | 'destroy'> {
  return { pause: () => void socket.pause(), resume: () => void socket.resume(), destroy: () => void socket.destroy() };
}

function once(callback: (reason: string) => void): (reason: string) => void {
  let isOver = false;
  return (reason) => {
    if (isOver) return;
    isOver = true;
    callback(reason);
  };
}

const statusLine = (head: string): string => head.split('\r\n', 1)[0] ?? '';
