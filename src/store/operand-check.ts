import type { Json } from '../core/json.ts';
import { impossible, isPossible, type OperandPlace } from './operators.ts';

/** A level of a filter, as far as `in` goes. */
interface Level {
  readonly in?: readonly Json[] | null | undefined;
}

/** Which operands of `in` no kind can have: of several kinds, what one of them cannot be is still asked of the others. */
export interface OperandCheck {
  /** Says that a kind compares the operands of this level with what stands at this place. */
  comparedAt(level: Level, place: OperandPlace): void;
  /** @throws {MusterError} `BAD_INPUT` for an operand that is not possible at any place of its level. */
  refuseImpossible(): void;
}

/** Of one filter, before any of its kinds was looked at. */
export function createOperandCheck(): OperandCheck {
  const left = new Map<Level, { readonly operands: readonly Json[]; readonly place: OperandPlace }>();
  return {
    comparedAt(level, place) {
      const { operands } = left.get(level) ?? { operands: level.in ?? [] };
      left.set(level, { operands: operands.filter((operand) => !isPossible(place, operand)), place });
    },
    refuseImpossible() {
      for (const { operands, place } of left.values()) for (const operand of operands) throw impossible(place, operand);
    },
  };
}
