import type { Caller } from '../access/access.ts';

/** One object that an operation changed or read, or tried to. */
export interface AuditedObject {
  readonly cluster: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
  /**
   * The `ObjectAction` of a write, `READ` or `FAILED` for a live read, or the `PropagationResult` of a mutation of a Propagation or a
   * Migration.
   */
  readonly result: string;
  /** The code of the first fault, if there is one. */
  readonly code?: string | undefined;
}

/** One mutation field, one live read of a Secret, or one step of the gateway with a registered cluster. It holds no values, no manifests and no tokens. */
export interface AuditedAction {
  readonly caller: Caller;
  readonly requestId?: string | undefined;
  /** The mutation field, or `get`. For the gateway itself: `register`, `unregister` or `renewToken`. */
  readonly verb: string;
  /** Default: false. */
  readonly dryRun?: boolean | undefined;
  /** Default: false. */
  readonly force?: boolean | undefined;
  /**
   * A hash of the manifests. Undefined without manifests, and if one is of a sensitive kind, because its values could be guessed from the
   * hash.
   */
  readonly manifestHash?: string | undefined;
  readonly objects: readonly AuditedObject[];
  /** The code of the error, if the whole field was refused. */
  readonly code?: string | undefined;
}

/** A credential that was not accepted. */
export interface RefusedLogin {
  readonly requestId?: string | undefined;
  /** The kind of the credential: `oidc`, `tokenreview`, `certificate` or `proxy`. */
  readonly method: string;
  /** The reason in one word, such as `expired`. Never a text of the client, which may contain the token. */
  readonly reason: string;
  /** The address of the peer. */
  readonly address?: string | undefined;
}

/** The record of who changed what. Created by create-audit.ts. */
export interface Audit {
  /**
   * Resolves if lines can be written now. Call it before an action.
   *
   * @throws {MusterError} `UNAVAILABLE` if earlier lines are still unwritten, or if there is no room for further ones.
   */
  check(): Promise<void>;
  /**
   * Writes one line. Resolves when the line is written. Call it after an action, and before its answer is sent.
   *
   * @throws {MusterError} `UNAVAILABLE` if the line cannot be written within 5 s. It is then kept, and written before any other line.
   */
  record(action: AuditedAction): Promise<void>;
  /**
   * Writes one line for a refused credential, without waiting for the write. After 100 lines in one second, further credentials of that second
   * are only counted: one line for each method and reason has their number.
   */
  refusedLogin(login: RefusedLogin): void;
}

/** The audit of a gateway whose config has none. */
export const noAudit: Audit = {
  check: () => Promise.resolve(),
  record: () => Promise.resolve(),
  refusedLogin: () => undefined,
};
