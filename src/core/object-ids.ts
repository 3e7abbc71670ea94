import { MusterError } from './errors.ts';
import type { GroupKind } from './kinds.ts';

/** What an id stands for: enough to read the object again, nothing about its state. */
export interface IdentifiedObject extends GroupKind {
  readonly cluster: string;
  /** `''` for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  /** An object that is created again under its name has another one. Absent: whichever object has the name, as where there are no uids. */
  readonly uid?: string | undefined;
}

/** The opaque id of an object: the same for its whole life, whoever reads it. */
export function idOfObject({ cluster, group, kind, namespace, name, uid }: IdentifiedObject): string {
  return encode([cluster, group, kind, namespace, name, ...(uid === undefined || uid === '' ? [] : [uid])]);
}

/** The opaque id of a cluster. Never equal to an object's. */
export function idOfCluster(name: string): string {
  return encode([name]);
}

/**
 * What `idOfObject` put into the id. It need not exist.
 *
 * @throws {MusterError} `BAD_INPUT` if it is not such an id.
 */
export function parseObjectId(id: string): IdentifiedObject {
  const parts = decode(id);
  const [cluster, group, kind, namespace, name, uid] = parts;
  const whole = cluster !== undefined && group !== undefined && kind !== undefined && namespace !== undefined && name !== undefined;
  if (whole && parts.length <= 6 && uid !== '') return { cluster, group, kind, namespace, name, ...(uid === undefined ? {} : { uid }) };
  throw new MusterError('BAD_INPUT', `expected the id of an object, as its field id gives it, got ${JSON.stringify(id.slice(0, 80))}`);
}

function encode(parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

function decode(id: string): readonly string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(id, 'base64url').toString());
    const strings = Array.isArray(parts) && parts.every((part) => typeof part === 'string');
    // Only the one spelling: else two ids would stand for one object in a client's cache.
    return strings && encode(parts) === id ? parts : [];
  } catch {
    return [];
  }
}
