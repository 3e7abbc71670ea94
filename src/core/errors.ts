/** Reasons why a whole request cannot be served. Clients receive the code in `extensions.code`, next to the message of the error. */
export const errorCodes = [
  'BAD_INPUT',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'TOO_COSTLY',
  'OVERLOADED',
  'SHUTTING_DOWN',
  'UNAVAILABLE',
  'SLOW_CONSUMER',
  'GONE',
  'PERSISTED_QUERY_NOT_SUPPORTED',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** The request itself cannot be served. The message is for the caller: the expected and the actual value, never a host or a secret. */
export class MusterError extends Error {
  override readonly name = 'MusterError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** A condition did not hold that only a bug in this project can break. The client receives a masked error (`src/operations/masking.ts`). */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/**
 * Asserts a condition that only a bug in this project can break.
 *
 * @throws {InvariantError} if `condition` is falsy.
 */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
