import { faultCodes } from '../../core/faults.ts';
import type { Health, RecordedFault } from '../inventory.ts';
import { type Codec, choice, optional, record, required } from '../spec/codec.ts';
import { integer, message, time } from '../spec/texts.ts';

/** A fault as it is kept on the hub. */
export const recordedFault: Codec<RecordedFault> = record({
  code: required(choice(faultCodes)),
  message: required(message),
  since: required(time),
  count: optional(integer(0)),
});

/** Whether a copy is well. */
export const health: Codec<Health> = choice(['Healthy', 'Unhealthy', 'Unknown']);
