import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { type ErrorCode, errorCodes, MusterError } from '../core/errors.ts';
import { withoutQuotedValues } from '../core/loggable-error.ts';
import { Refusal } from './refusal.ts';

/** What a client gets to know of an error that is none of its making. */
export const maskedMessage = 'Unexpected error.';

/** The code of a masked error. */
export const maskedCode = 'INTERNAL_SERVER_ERROR';

export interface MaskOptions {
  /** Told with every error, so that a user's report finds its line in the log. */
  readonly requestId: string;
  /** Told of each bug, with its cause, once. */
  readonly onBug: (error: unknown) => void;
}

/**
 * An error as a client sees it: the one place where errors become codes.
 *
 * What GraphQL itself finds wrong with a document or its variables is the caller's `BAD_INPUT`; a `MusterError` has its own code; everything else
 * is a bug of ours, and its text stays here.
 */
export function clientError(error: unknown, { requestId, onBug }: MaskOptions): GraphQLFormattedError {
  const { locations, path } = error instanceof GraphQLError ? error.toJSON() : {};
  const at = { ...(locations === undefined ? {} : { locations }), ...(path === undefined ? {} : { path }) };
  const known = knownError(error);
  if (known !== undefined) return { message: known.message, ...at, extensions: { code: known.code, requestId } };
  onBug(originalOf(error));
  return { message: maskedMessage, ...at, extensions: { code: maskedCode, requestId } };
}

interface KnownError {
  readonly code: ErrorCode;
  readonly message: string;
}

function knownError(error: unknown): KnownError | undefined {
  const original = originalOf(error);
  if (original instanceof MusterError || original instanceof Refusal)
    return { code: original.code, message: error instanceof GraphQLError ? error.message : original.message };
  if (!(error instanceof GraphQLError)) return undefined;
  // With a path an error comes from execution, so it is ours (a null where none may be, a leaf of a wrong type), with one exception: values of
  // variables meet the types of arguments only there. graphql-js marks these by nothing but their words.
  if (error.path !== undefined && !error.message.startsWith('Argument "')) return undefined;
  const { code } = error.extensions;
  return { code: errorCodes.find((known) => known === code) ?? 'BAD_INPUT', message: withoutQuotedValues(error.message) };
}

/** The error beneath the wrapping of GraphQL, however deep. */
function originalOf(error: unknown): unknown {
  let current = error;
  while (current instanceof GraphQLError && current.originalError !== undefined) current = current.originalError;
  return current;
}
