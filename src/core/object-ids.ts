import { MusterError } from './errors.ts';
import type { GroupKind } from './kinds.ts';

/** The content of an object's id: enough to read the object again, without any of its state. */
export interface IdentifiedObject extends GroupKind {
  readonly cluster: string;
  /** `''` for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  /** The uid. An object that is created again under the same name has another one. Undefined: any object with this name. */
  readonly uid?: string | undefined;
}

/** Returns the opaque id of an object. It stays the same for the object's whole life, for every caller. */
export function idOfObject({ cluster, group, kind, namespace, name, uid }: IdentifiedObject): string {
  return encode([cluster, group, kind, namespace, name, ...(uid === undefined || uid === '' ? [] : [uid])]);
}

/** Returns the opaque id of a cluster. It never equals the id of an object. */
export function idOfCluster(name: string): string {
  return encode([name]);
}

/**
 * Returns the content of an object's id. The object need not exist.
 *
 * @throws {MusterError} `BAD_INPUT` if the text is not the id of an object.
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
    // Only one spelling of an id is valid. Otherwise a client's cache could hold one object twice.
    return strings && encode(parts) === id ? parts : [];
  } catch {
    return [];
  }
}
