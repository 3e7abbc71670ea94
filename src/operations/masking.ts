import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { type ErrorCode, errorCodes, MusterError } from '../core/errors.ts';
import { withoutQuotedValues } from '../core/loggable-error.ts';
import { RequestRefusal } from './refusal.ts';

/** What a client gets to know of an error that is none of its making. */
const maskedMessage = 'Unexpected error.';

/** The code of a masked error. */
export const maskedCode = 'INTERNAL_SERVER_ERROR';

export interface MaskOptions {
  /** Told with every error, so that a user's report finds its line in the log. */
  readonly requestId: string;
  /** Told of each bug, with its cause, once. */
  readonly onBug: (error: unknown) => void;
}

/**
 * Yoga's `maskedErrors`: the one place where errors become codes.
 *
 * What GraphQL itself finds wrong with a document or its variables is the caller's `BAD_INPUT`; a `MusterError` has its own code; everything else
 * is a bug of ours, and its text stays in `originalError`, which nobody is sent.
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

/** An error as a client is sent it. It makes no difference whether Yoga has masked it before. */
export function clientError(error: unknown, { requestId, onBug }: MaskOptions): GraphQLFormattedError {
  const { locations, path } = error instanceof GraphQLError ? error.toJSON() : {};
  const at = { ...(locations === undefined ? {} : { locations }), ...(path === undefined ? {} : { path }) };
  const known = knownError(error);
  if (known !== undefined) return { message: known.message, ...at, extensions: { code: known.code, requestId } };
  onBug(originalErrorOf(error));
  return { message: maskedMessage, ...at, extensions: { code: maskedCode, requestId } };
}

/** The status of a request that is refused as a whole, in the form that Yoga's own errors have. */
function httpOf(error: unknown): HttpExtension | undefined {
  const original = originalErrorOf(error);
  if (original instanceof RequestRefusal) return { status: original.status, headers: original.headers };
  return original instanceof MusterError && original.code === 'SHUTTING_DOWN' ? { status: 503 } : undefined;
}

/** What `extensions.http` of an error says of the answer. `spec`: but not in `application/json`, where such errors have status 200. */
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
  // With a path an error comes from execution, so it is ours (a null where none may be, a leaf of a wrong type), with one exception: values of
  // variables meet the types of arguments only there. graphql-js marks these by nothing but their words.
  if (error.path !== undefined && !error.message.startsWith('Argument "')) return undefined;
  const { code } = error.extensions;
  return { code: errorCodes.find((known) => known === code) ?? 'BAD_INPUT', message: withoutQuotedValues(error.message) };
}

/** The error beneath the wrapping of GraphQL, however deep. */
export function originalErrorOf(error: unknown): unknown {
  let current = error;
  while (current instanceof GraphQLError && current.originalError !== undefined) current = current.originalError;
  return current;
}
