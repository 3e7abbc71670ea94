import { systemClock } from '../../../src/core/clock.ts';
import type { BailReason } from '../../../src/execution/bail.ts';
import { OperationExecutor } from '../../../src/execution/operation-executor.ts';

/** Creates an executor that keeps texts from their first use on. Pushes why compiled code gave up to `bails`. */
export function testExecutor(bails: BailReason[] = []): OperationExecutor {
  return new OperationExecutor({ clock: systemClock, keepTextsAfter: 0, onBail: (reason) => void bails.push(reason) });
}

/** Returns attempts whose contexts this function makes, of an operation that is never over. */
export function attemptsWith(newContext: () => object) {
  return { newContext, throwIfOver: () => undefined };
}
