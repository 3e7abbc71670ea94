import type { ErrorCode } from '../core/errors.ts';

/** Refuses a whole request: an HTTP status, a code and one line for the caller. The HTTP or WebSocket edge answers with it. */
export class RequestRefusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(reason: {
    readonly status: number;
    readonly code: ErrorCode;
    readonly message: string;
    readonly headers?: Readonly<Record<string, string>>;
  }) {
    super(reason.message);
    this.status = reason.status;
    this.code = reason.code;
    this.headers = reason.headers ?? {};
  }
}
