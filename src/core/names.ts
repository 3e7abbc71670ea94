import { MusterError } from './errors.ts';

declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

/** What a cluster is called: 1 to 253 characters, no control characters. Made by `parseClusterName` only. */
export type ClusterName = Branded<string, 'ClusterName'>;

/** The opaque version of an object or a list (Kubernetes API concepts, "Resource versions"). Made by `parseResourceVersion` only. */
export type ResourceVersion = Branded<string, 'ResourceVersion'>;

const controlCharacter = /\p{Cc}/u;

/** The name if the text is one, else undefined. */
export function parseClusterName(text: string): ClusterName | undefined {
  if (text.length === 0 || text.length > 253 || controlCharacter.test(text)) return undefined;
  return text as ClusterName;
}

/**
 * The name that the text must be.
 *
 * @throws {MusterError} `BAD_INPUT` if it is not one.
 */
export function clusterName(text: string): ClusterName {
  const name = parseClusterName(text);
  if (name !== undefined) return name;
  throw new MusterError(
    'BAD_INPUT',
    `expected a cluster name of 1 to 253 characters without control characters, got ${JSON.stringify(text.slice(0, 80))}`,
  );
}

/** The version if the value is one (text that is not empty), else undefined. */
export function parseResourceVersion(value: unknown): ResourceVersion | undefined {
  return typeof value === 'string' && value.length > 0 && value.length <= 1024 ? (value as ResourceVersion) : undefined;
}

/** What cannot be one segment of a path is the name of no object (apimachinery, IsValidPathSegmentName). */
const notASegment = /^\.{0,2}$|[/%]|\p{Cc}/u;

/** True if the text can be the name of an object or a namespace, as far as its path goes: 1 to 253 characters, one segment. */
export function isPathSegment(text: string): boolean {
  return text.length <= 253 && text.isWellFormed() && !notASegment.test(text);
}
