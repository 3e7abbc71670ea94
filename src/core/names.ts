import { MusterError } from './errors.ts';

declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

/** The name of a cluster: 1 to 253 characters, no control characters. Only `parseClusterName` makes one. */
export type ClusterName = Branded<string, 'ClusterName'>;

/** The opaque version of an object or a list (Kubernetes API concepts, "Resource versions"). Only `parseResourceVersion` makes one. */
export type ResourceVersion = Branded<string, 'ResourceVersion'>;

const controlCharacter = /\p{Cc}/u;

/** Returns the name, or undefined if the text is not a valid one. */
export function parseClusterName(text: string): ClusterName | undefined {
  if (text.length === 0 || text.length > 253 || controlCharacter.test(text)) return undefined;
  return text as ClusterName;
}

/**
 * Returns the text as the name of a cluster.
 *
 * @throws {MusterError} `BAD_INPUT` if the text is not a valid name.
 */
export function clusterName(text: string): ClusterName {
  const name = parseClusterName(text);
  if (name !== undefined) return name;
  throw new MusterError(
    'BAD_INPUT',
    `expected a cluster name of 1 to 253 characters without control characters, got ${JSON.stringify(text.slice(0, 80))}`,
  );
}

/** Returns the version, or undefined if the value is not a text of 1 to 1,024 characters. */
export function parseResourceVersion(value: unknown): ResourceVersion | undefined {
  return typeof value === 'string' && value.length > 0 && value.length <= 1024 ? (value as ResourceVersion) : undefined;
}

/** Matches texts that cannot be one segment of a path. No object has such a name (apimachinery, IsValidPathSegmentName). */
const notASegment = /^\.{0,2}$|[/%]|\p{Cc}/u;

/**
 * True if the text may be the name of an object or a namespace in a path: one segment of at most 253 characters. Other rules for names
 * are not checked.
 */
export function isPathSegment(text: string): boolean {
  return text.length <= 253 && text.isWellFormed() && !notASegment.test(text);
}
