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

/** The content of a Propagation's id. */
interface IdentifiedPropagation {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Returns the opaque id of a Propagation. It never equals the id of an object or of a cluster. */
export function idOfPropagation({ namespace, name, uid }: IdentifiedPropagation): string {
  return encode([namespace, name, uid]);
}

/**
 * Returns the content of an object's id. The object need not exist.
 *
 * @throws {MusterError} `BAD_INPUT` if the text is not the id of an object.
 */
export function parseObjectId(id: string): IdentifiedObject {
  const object = objectOfId(id);
  if (object !== undefined) return object;
  throw new MusterError('BAD_INPUT', `expected the id of an object, as its field id gives it, got ${JSON.stringify(id.slice(0, 80))}`);
}

/** Like `parseObjectId`, but returns undefined if the text is not the id of an object. */
export function objectOfId(id: string): IdentifiedObject | undefined {
  const parts = decode(id);
  const [cluster, group, kind, namespace, name, uid] = parts;
  const whole = cluster !== undefined && group !== undefined && kind !== undefined && namespace !== undefined && name !== undefined;
  if (!whole || parts.length > 6 || uid === '') return undefined;
  return { cluster, group, kind, namespace, name, ...(uid === undefined ? {} : { uid }) };
}

/** Returns the name in a cluster's id. Undefined if the text is not the id of a cluster. The cluster need not exist. */
export function clusterOfId(id: string): string | undefined {
  const parts = decode(id);
  return parts.length === 1 ? parts[0] : undefined;
}

/** Returns the content of a Propagation's id. Undefined if the text is not the id of a Propagation. The Propagation need not exist. */
export function propagationOfId(id: string): IdentifiedPropagation | undefined {
  const parts = decode(id);
  const [namespace, name, uid] = parts;
  const whole = parts.length === 3 && namespace !== undefined && name !== undefined && uid !== undefined;
  return whole ? { namespace, name, uid } : undefined;
}

/** Holds one id while it is encoded. A new buffer for each id would take longer than encoding it. */
const scratch = Buffer.allocUnsafe(4_096);

function encode(parts: readonly string[]): string {
  const text = JSON.stringify(parts);
  // A character of a text has at most three bytes in UTF-8.
  if (text.length * 3 > scratch.length) return Buffer.from(text).toString('base64url');
  return scratch.toString('base64url', 0, scratch.write(text));
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
