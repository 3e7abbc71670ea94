import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { type ErrorCode, errorCodes, MusterError } from '../core/errors.ts';
import { withoutQuotedValues } from '../core/loggable-error.ts';
import { RequestRefusal } from './refusal.ts';

/** The message for errors that the client has not caused. */
const maskedMessage = 'Unexpected error.';

/** The code of a masked error. */
export const maskedCode = 'INTERNAL_SERVER_ERROR';

export interface MaskOptions {
  /** Id of the request. It is in each error and in the log, so that the two can be matched. */
  readonly requestId: string;
  /** Called once for each bug, with its cause. */
  readonly onBug: (error: unknown) => void;
}

/**
 * Returns the error with its code and the message for the client. Used as Yoga's `maskedErrors`.
 *
 * Errors of graphql-js about a document or its variables become `BAD_INPUT`. A `MusterError` keeps its own code. All other errors are bugs:
 * their text stays in `originalError`, which is never sent.
 */
export function maskError(error: unknown): GraphQLError {
  const { nodes, source, positions, path, extensions } = error instanceof GraphQLError ? error : ({} as Partial<GraphQLError>);
  const { code, message } = knownError(error) ?? { code: maskedCode, message: maskedMessage };
  const http = httpOf(error) ?? extensions?.http;
  const originalError = error instanceof Error ? error : new Error(String(error));
  return new GraphQLError(message, {
    nodes,
    source,
    positions,
    path,
    originalError,
    extensions: { code, ...(http === undefined ? {} : { http }) },
  });
}

/** Formats an error for the client. It may have been masked by Yoga before. */
export function clientError(error: unknown, { requestId, onBug }: MaskOptions): GraphQLFormattedError {
  const { locations, path } = error instanceof GraphQLError ? error.toJSON() : {};
  const at = { ...(locations === undefined ? {} : { locations }), ...(path === undefined ? {} : { path }) };
  const known = knownError(error);
  if (known !== undefined) return { message: known.message, ...at, extensions: { code: known.code, requestId } };
  onBug(originalErrorOf(error));
  return { message: maskedMessage, ...at, extensions: { code: maskedCode, requestId } };
}

/** Returns the HTTP status for an error that refuses the whole request, in the form of Yoga's own errors. Undefined for other errors. */
function httpOf(error: unknown): HttpExtension | undefined {
  const original = originalErrorOf(error);
  if (original instanceof RequestRefusal) return { status: original.status, headers: original.headers };
  return original instanceof MusterError && original.code === 'SHUTTING_DOWN' ? { status: 503 } : undefined;
}

/**
 * The HTTP part of an error, in `extensions.http`. `spec: true`: the status applies only to `application/graphql-response+json`, and
 * `application/json` gets 200. Absent or false: both get the status.
 */
export interface HttpExtension {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly spec?: boolean;
}

interface KnownError {
  readonly code: ErrorCode;
  readonly message: string;
}

function knownError(error: unknown): KnownError | undefined {
  const original = originalErrorOf(error);
  if (original instanceof MusterError || original instanceof RequestRefusal)
    return { code: original.code, message: error instanceof GraphQLError ? error.message : original.message };
  if (!(error instanceof GraphQLError)) return undefined;
  // An error with a path comes from execution, so it is our bug. There is one exception: values of variables are checked against the types
  // of arguments only during execution. graphql-js marks these errors only by their text.
  if (error.path !== undefined && !error.message.startsWith('Argument "')) return undefined;
  const { code } = error.extensions;
  return { code: errorCodes.find((known) => known === code) ?? 'BAD_INPUT', message: withoutQuotedValues(error.message) };
}

/** Returns the innermost error below all `GraphQLError`s. */
export function originalErrorOf(error: unknown): unknown {
  let current = error;
  while (current instanceof GraphQLError && current.originalError !== undefined) current = current.originalError;
  return current;
}
