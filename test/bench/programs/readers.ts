import { setTimeout as sleep } from 'node:timers/promises';
import { type Forked, forkProgram } from '../forked.ts';
import { pin } from '../pin.ts';
import type { StreamProtocol } from './fan-out/publisher.ts';

/** A command to the readers' process. */
export type ReaderCommand =
  /** Opens the streams. Answered when each stream has received `SYNCED`. */
  | {
      readonly type: 'open';
      readonly protocol: StreamProtocol;
      readonly port: number;
      readonly query: string;
      readonly sockets: number;
      readonly streamsEach: number;
      /** Bytes of one message, for protocols that do not separate messages. */
      readonly frameBytes: number;
    }
  /** Makes this number of connections stop reading. */
  | { readonly type: 'hold'; readonly count: number }
  | { readonly type: 'drop-held' }
  | { readonly type: 'close' }
  /** Restarts the count at 0. From now on messages are only counted. */
  | { readonly type: 'count' }
  /** Restarts the count at 0. From now on messages are read and the age of their stamps is measured. */
  | { readonly type: 'time' }
  /** Answered when this number of messages has come. */
  | { readonly type: 'until'; readonly messages: number }
  | { readonly type: 'figures' };

export interface ReaderFigures {
  readonly messages?: number;
  /** Bytes of the payloads. 0 while messages are only counted. */
  readonly bytes?: number;
  /** Number of stamps that were read. The next figures are percentiles of their age. */
  readonly timed?: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly maxMs?: number;
}

/** The readers' process, which runs on its own core. */
export type Readers = Forked<ReaderCommand, ReaderFigures>;

export function startReaders(): Readers {
  const readers: Readers = forkProgram(new URL('../support/stream-readers.ts', import.meta.url));
  pin(1, readers.pid);
  return readers;
}

/** Returns a stamp for messages: microseconds of the monotonic clock that all processes of the machine share. */
export const stampNow = (): string => String(process.hrtime.bigint() / 1000n);

/** Makes changes at this rate, as evenly as timers allow. Each change gets its stamp. Resolves after the last. */
export async function paced(
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
  change: (stamp: string) => void,
): Promise<void> {
  const fromMs = performance.now();
  const all = perSecond * seconds;
  for (let made = 0; made < all; ) {
    const due = Math.min(all, ((performance.now() - fromMs) / 1000) * perSecond);
    for (; made < due; made += 1) change(stampNow());
    await sleep(1);
  }
}
