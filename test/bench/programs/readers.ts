import { setTimeout as sleep } from 'node:timers/promises';
import { type Forked, forkProgram } from '../forked.ts';
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

/** The readers' process, on a core of its own. */
export type Readers = Forked<ReaderCommand, ReaderFigures>;

export function startReaders(): Readers {
  const readers: Readers = forkProgram(new URL('../support/stream-readers.ts', import.meta.url));
  pin(1, readers.pid);
  return readers;
}

/** A stamp for messages: microseconds of a clock that all processes of the machine share. */
export const stampNow = (): string => String(process.hrtime.bigint() / 1000n);

/** Makes changes at that rate, as evenly as timers allow; each is given its stamp. Resolves after the last. */
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
