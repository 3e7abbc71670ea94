import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { RequestScheduler } from '../../../src/operations/request-scheduler.ts';
import type { HttpOperation } from '../../../src/serve/http/http-operation.ts';
import { useExactJson } from '../../../src/serve/http/request-body.ts';
import { turns } from '../../support/manual-clock.ts';

/** Parses bodies that arrive at the same time. `order` has the callers whose bodies were parsed, and `perTurn` how many in one event-loop turn. */
function parser() {
  const plugin = useExactJson({ maxBytes: 4 << 20, requestScheduler: new RequestScheduler(systemClock), clock: systemClock });
  const order: string[] = [];
  const inTurn = new Map<number, number>();
  let turn = 0;
  let isWatching = true;
  const watch = () => {
    turn++;
    if (isWatching) setImmediate(watch);
  };
  watch();
  const parse = async (caller: string, bytes: number, signal = new AbortController()): Promise<void> => {
    const body = Buffer.from(JSON.stringify({ query: '{ hello }', variables: { text: 'x'.repeat(bytes) } }));
    const req = Object.assign(Readable.from([body]), { method: 'POST', headers: {} });
    const operation = { req, caller: { key: caller }, abortController: signal } as unknown as HttpOperation;
    let run: (() => unknown) | undefined;
    const setRequestParser = (given: () => unknown) => {
      run = given;
    };
    plugin.onRequestParse?.({ serverContext: operation, setRequestParser } as never);
    await run?.();
    order.push(caller);
    inTurn.set(turn, (inTurn.get(turn) ?? 0) + 1);
  };
  return {
    parse,
    order,
    end: () => {
      isWatching = false;
      return Math.max(...inTurn.values());
    },
  };
}

test('of the large bodies of one caller, one event-loop turn parses one, and callers take turns', async () => {
  const { parse, order, end } = parser();
  await Promise.all(['eve', 'eve', 'eve', 'eve', 'ann'].map((caller) => parse(caller, 300 << 10)));
  expect(order.indexOf('ann')).toBeLessThan(3);
  expect(end(), 'one of each caller').toBeLessThanOrEqual(2);
});

test('a small body does not wait for large ones', async () => {
  const { parse, order, end } = parser();
  await Promise.all([...Array.from({ length: 5 }, () => parse('eve', 300 << 10)), parse('ann', 10)]);
  expect(order.indexOf('ann')).toBeLessThan(2);
  end();
});

test('a large body whose client leaves is not parsed', async () => {
  const { parse, order, end } = parser();
  const life = new AbortController();
  const first = parse('eve', 300 << 10);
  const left = parse('eve', 300 << 10, life);
  const gone = expect(left).rejects.toThrow('gone');
  await turns(1);
  life.abort(new Error('gone'));
  await gone;
  await first;
  expect(order).toEqual(['eve']);
  end();
});
