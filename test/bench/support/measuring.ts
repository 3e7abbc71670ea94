import { monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** CPU milliseconds since the start of the process, of the main thread and of the whole process. */
export interface Cpu {
  readonly main: number;
  readonly process: number;
}

export function cpuNow(): Cpu {
  const whole = process.cpuUsage();
  return { main: mainThreadMs(), process: (whole.user + whole.system) / 1000 };
}

function mainThreadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

export function cpuSince(start: Cpu): Cpu {
  const now = cpuNow();
  return { main: now.main - start.main, process: now.process - start.process };
}

/** Returns the median, and of an even number of values the higher one of the two in the middle. NaN without values. */
export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** Measures the reachable bytes, after two garbage collections. Needs `--expose-gc`. */
export async function reachableBytes(): Promise<number> {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('start this program with --expose-gc');
  for (let n = 0; n < 3; n += 1) {
    collect();
    await sleep(20);
  }
  return process.memoryUsage().heapUsed;
}

/** Measures event-loop stalls and garbage collection until `stop`. */
export function watchLoop(): { stop(): { readonly longestStallMs: number; readonly gcMs: number; readonly longestGcMs: number } } {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let gcMs = 0;
  let longestGcMs = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      gcMs += duration;
      longestGcMs = Math.max(longestGcMs, duration);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  delay.enable();
  return {
    stop: () => {
      delay.disable();
      observer.disconnect();
      return { longestStallMs: delay.max / 1e6, gcMs, longestGcMs };
    },
  };
}

/** Measures the longest event-loop turn until `stop`, by spinning. It counts milliseconds of CPU, so other processes do not affect it. */
export function watchTurns(): { stop(): { readonly longestTurnMs: number } } {
  let longestTurnMs = 0;
  let isOver = false;
  let last = mainThreadMs();
  const turn = () => {
    const now = mainThreadMs();
    longestTurnMs = Math.max(longestTurnMs, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    stop: () => {
      isOver = true;
      return { longestTurnMs };
    },
  };
}

/** Polls the condition until it is true, by default every 5 ms. The polls count in the measured CPU, so the condition must be cheap. */
export async function reached(condition: () => boolean | Promise<boolean>, { everyMs = 5, withinMs = 60_000 } = {}): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not reached within ${withinMs} ms: ${condition.toString()}`);
    await sleep(everyMs);
  }
}

/** Makes the canned server send events. Resolves with the version of the last event, when all are written. */
export async function push(control: string, { count, rate = 0 }: { readonly count: number; readonly rate?: number }): Promise<string> {
  return (JSON.parse(await post(`${control}/push?count=${count}&rate=${rate}`)) as { version: string }).version;
}

/** Sends a POST without a body. Resolves with the complete answer. */
export async function post(url: string): Promise<string> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST' }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('end', () => resolve(text));
    });
    call.once('error', reject);
    call.end();
  });
}

/** Prints the figures as the last line and ends the process, even if sockets or timers are still open. */
export function finish(figures: Readonly<Record<string, number>>): never {
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  process.exit(0);
}
