import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { pin } from '../pin.ts';
import type { StreamProtocol } from './fan-out/publisher.ts';

/** What the process of the readers is told. */
export type ReaderCommand =
  /** Done once each stream has said `SYNCED`. */
  | {
      readonly type: 'open';
      readonly protocol: StreamProtocol;
      readonly port: number;
      readonly query: string;
      readonly sockets: number;
      readonly streamsEach: number;
      /** Of one message, where nothing tells messages apart. */
      readonly frameBytes: number;
    }
  /** So many connections read nothing from now on. */
  | { readonly type: 'hold'; readonly count: number }
  | { readonly type: 'drop-held' }
  | { readonly type: 'close' }
  /** From now on messages are only counted, from 0. */
  | { readonly type: 'count' }
  /** From now on messages are read, counted from 0, and the age of their stamps is taken. */
  | { readonly type: 'time' }
  /** Done once so many have come. */
  | { readonly type: 'until'; readonly messages: number }
  | { readonly type: 'figures' };

export interface ReaderFigures {
  readonly messages?: number;
  /** Of the payloads; 0 where they were only counted. */
  readonly bytes?: number;
  /** How many stamps were read, and how old they were. */
  readonly timed?: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly maxMs?: number;
}

export type ReaderReply = { readonly id: number; readonly figures: ReaderFigures } | { readonly id: number; readonly error: string };

/** The readers' process, on a core of its own. */
export interface Readers extends Disposable {
  ask(command: ReaderCommand): Promise<ReaderFigures>;
}

export function startReaders(): Readers {
  const child = fork(fileURLToPath(new URL('./stream-readers.ts', import.meta.url)), [], { execArgv: [] });
  if (child.pid !== undefined) pin(1, child.pid);
  let last = 0;
  const asked = new Map<number, { resolve(figures: ReaderFigures): void; reject(error: Error): void }>();
  child.on('message', (reply: ReaderReply) => {
    const waiting = asked.get(reply.id);
    asked.delete(reply.id);
    if ('error' in reply) waiting?.reject(new Error(reply.error));
    else waiting?.resolve(reply.figures);
  });
  child.once('exit', (code) => {
    for (const { reject } of asked.values()) reject(new Error(`the readers ended with ${code}`));
  });
  return {
    ask: (command) =>
      new Promise((resolve, reject) => {
        last += 1;
        asked.set(last, { resolve, reject });
        child.send({ ...command, id: last });
      }),
    [Symbol.dispose]: () => void child.kill(),
  };
}

/** A stamp for messages: microseconds of a clock that all processes of the machine share. */
export const stampNow = (): string => String(process.hrtime.bigint() / 1000n);
