import { expect, test } from 'vitest';
import { silentLog } from '../../../src/core/log.ts';
import { AnswerEncoder } from '../../../src/operations/answer-encoder.ts';
import { maskOptionsFor } from '../../../src/operations/answers.ts';
import { Deadlines } from '../../../src/operations/deadlines.ts';
import { StreamGroup } from '../../../src/streams/sending/stream-group.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { fedSchema, HandFedSource } from '../../support/serving/hand-fed-streams.ts';
import { servedOf } from '../../support/serving/start-serving.ts';

test('a message that takes longer than 30 s to make ends the stream, if it checks its time', async () => {
  const clock = createManualClock();
  const made: number[] = [];
  const group = new StreamGroup({
    async execute(message, { throwIfOver }) {
      const { afterMs } = message as { readonly afterMs: number };
      await clock.advance(afterMs);
      throwIfOver();
      made.push(afterMs);
      return { data: { ticks: null } };
    },
    served: servedOf(fedSchema(new HandFedSource()).schema),
    caller: { key: 'me' },
    contextOf: (scope) => scope,
    encoder: new AnswerEncoder({ clock }),
    deadlines: new Deadlines({ clock, limitMs: 30_000 }, new AbortController().signal),
    masking: maskOptionsFor('id', silentLog),
    isVolatile: false,
    onRendered: () => undefined,
  });
  group.join();
  expect(await group.render({ afterMs: 29_000 })).toMatchObject({ type: 'message' });
  expect(await group.render({ afterMs: 31_000 })).toMatchObject({ type: 'last', code: 'TOO_COSTLY' });
  expect(made).toEqual([29_000]);
});
