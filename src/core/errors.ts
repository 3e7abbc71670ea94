/** Why a request as a whole cannot be served. The edge puts it into `extensions.code`; nothing else is told to a client. */
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

/** The request itself cannot be served. The message is for the caller: what was expected and what came, never a host or a secret. */
export class MusterError extends Error {
  override readonly name = 'MusterError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** A bug of ours: a condition that must hold did not. Masked and counted at the edge, caught nowhere below it. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/**
 * Asserts what can only be false through a bug of ours.
 *
 * @throws {InvariantError} if `condition` is falsy.
 */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
