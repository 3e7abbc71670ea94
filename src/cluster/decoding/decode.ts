import { isAscii, isUtf8 } from 'node:buffer';
import type { Fault } from '../../core/faults.ts';
import { isJsonObject, type Json, type JsonObject, parseJsonExactly, tryParseJson } from '../../core/json.ts';
import type { ServedResource } from '../../core/kinds.ts';
import { type ClusterName, parseResourceVersion, type ResourceVersion } from '../../core/names.ts';
import { isKubernetesObject, type KubernetesObject } from '../../core/objects.ts';
import { clusterFailure, failureOfErrorEvent, faultOfFailure } from '../cluster-failure.ts';
import { identityInBytes } from './identity-in-bytes.ts';
import { findMember } from './json-scan.ts';
import { type ByteRange, managedFieldsOf } from './managed-fields.ts';
import { placeholder, unchangedMembers, withHeldMembers } from './unchanged-members.ts';

export { identityInBytes };

/** Parses the same bytes again and keeps integers beyond 2⁵³−1 as `RawNumber`. Takes five times as long as the first parse. */
type ExactParse = () => KubernetesObject;

/** One line of a watch. `managedFields` are removed from the top-level metadata and nowhere else. */
export type DecodedEvent =
  | {
      readonly type: 'applied';
      readonly wireType: 'ADDED' | 'MODIFIED';
      readonly object: KubernetesObject;
      readonly version: ResourceVersion;
      readonly exactly: ExactParse;
    }
  | { readonly type: 'deleted'; readonly object: KubernetesObject; readonly version: ResourceVersion; readonly exactly: ExactParse }
  /** `version` is undefined if the server sent none. */
  | { readonly type: 'bookmark'; readonly version?: ResourceVersion; readonly initialEventsEnd: boolean }
  /**
   * An ERROR event. A Table or List in place of an object is an error too, `MALFORMED`; the objects in the mirror are still correct
   * (docs/internals/mirror.md 3.1, row 18).
   */
  | { readonly type: 'error'; readonly fault: Fault }
  /** A line that cannot be read. It may have been an event, so the mirror may have missed one (docs/internals/mirror.md 3.1, row 17). */
  | { readonly type: 'unreadable'; readonly reason: string };

/** The cluster and the kind of the events. */
export interface DecodeContext {
  readonly cluster: ClusterName;
  readonly resource: ServedResource;
  /**
   * Returns the object of this name that the mirror holds. An event of the same object then shares its unchanged top-level members, which are
   * not parsed again. Default: every event is parsed as a whole.
   */
  readonly held?: ((namespace: string, name: string) => KubernetesObject | undefined) | undefined;
}

export type DecodedItem =
  | { readonly type: 'item'; readonly object: KubernetesObject; readonly exactly: ExactParse }
  | { readonly type: 'unreadable'; readonly reason: string };

const objectKey = Buffer.from('object');

/**
 * Decodes one line of a watch. Never throws. A line that is not JSON, not UTF-8, of another kind, or without a name or version is
 * `unreadable`.
 *
 * An object without `kind` counts as one of the expected kind. So does `PartialObjectMetadata`.
 */
export function decodeEvent(frame: Uint8Array, context: DecodeContext): DecodedEvent {
  const bytes = bufferOf(frame);
  const objectAt = findMember(bytes, 0, objectKey);
  const held = context.held === undefined ? undefined : predecessorOf(bytes, objectAt, context.held);
  const text = textToParse(bytes, objectAt, held);
  if (text === undefined) return unreadable('expected UTF-8');
  const event = tryParseJson(text);
  if (!isJsonObject(event)) return unreadable(event === undefined ? 'expected a line of JSON' : 'expected a JSON object');
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return decodeChange(event.type, event.object, { text, context, held });
    case 'BOOKMARK':
      return decodeBookmark(event.object, context);
    case 'ERROR':
      return {
        type: 'error',
        fault: faultOfFailure(failureOfErrorEvent(event.object), { cluster: context.cluster, kind: context.resource }),
      };
    default:
      return unreadable('expected type ADDED, MODIFIED, DELETED, BOOKMARK or ERROR');
  }
}

/** Decodes one item of a list. Never throws. An item needs a name. It may lack a version, because some kinds are not stored. */
export function decodeItem(item: Uint8Array): DecodedItem {
  const text = textToParse(bufferOf(item), 0, undefined);
  if (text === undefined) return unreadable('expected UTF-8');
  const object = tryParseJson(text);
  if (object === undefined) return unreadable('expected JSON');
  if (!isKubernetesObject(object)) return unreadable('expected an object with a name');
  return {
    type: 'item',
    object: withoutManagedFields(object),
    exactly: () => withoutManagedFields(exactObject(parseExactly(text), object)),
  };
}

function decodeChange(
  wireType: 'ADDED' | 'MODIFIED' | 'DELETED',
  object: Json | undefined,
  { text, context, held }: { readonly text: string; readonly context: DecodeContext; readonly held: KubernetesObject | undefined },
): DecodedEvent {
  const strange = wrongKind(object, context);
  if (strange !== undefined) return strange;
  if (!isKubernetesObject(object)) return unreadable('expected an object with a name');
  const version = parseResourceVersion(object.metadata.resourceVersion);
  if (version === undefined) return unreadable('expected an object with a resourceVersion');
  const event = {
    object: withoutManagedFields(withHeldMembers(object, held)),
    version,
    exactly: () => {
      const exact = parseExactly(text);
      return withoutManagedFields(withHeldMembers(exactObject(isJsonObject(exact) ? exact.object : undefined, object), held));
    },
  };
  return wireType === 'DELETED' ? { type: 'deleted', ...event } : { type: 'applied', wireType, ...event };
}

function decodeBookmark(object: Json | undefined, context: DecodeContext): DecodedEvent {
  const strange = wrongKind(object, context);
  if (strange !== undefined) return strange;
  const metadata = isJsonObject(object) && isJsonObject(object.metadata) ? object.metadata : {};
  const version = parseResourceVersion(metadata.resourceVersion);
  const annotations = isJsonObject(metadata.annotations) ? metadata.annotations : {};
  const initialEventsEnd = annotations['k8s.io/initial-events-end'] === 'true';
  return { type: 'bookmark', initialEventsEnd, ...(version === undefined ? {} : { version }) };
}

function wrongKind(object: Json | undefined, { cluster, resource }: DecodeContext): DecodedEvent | undefined {
  const kind = isJsonObject(object) ? object.kind : undefined;
  if (kind === undefined || kind === resource.kind || kind === 'PartialObjectMetadata') return undefined;
  if (kind === 'Table' || kind === `${resource.kind}List`) {
    return {
      type: 'error',
      fault: faultOfFailure(clusterFailure('MALFORMED', `expected events of ${resource.kind}, got a ${kind}`), { cluster, kind: resource }),
    };
  }
  return unreadable(`expected an object of kind ${resource.kind}`);
}

function unreadable(reason: string): { readonly type: 'unreadable'; readonly reason: string } {
  return { type: 'unreadable', reason };
}

/** A buffer for joining bytes. It is kept between calls unless it grew large. */
let scratch = Buffer.alloc(0);
const largestScratchBytes = 1 << 20;

/**
 * Returns the text without the `managedFields` of the object at `objectAt`, and with a placeholder for each top-level member that is
 * unchanged since `held`. Undefined if the bytes are not UTF-8.
 */
function textToParse(bytes: Buffer, objectAt: number, held: KubernetesObject | undefined): string | undefined {
  // Latin-1 strings have one byte per character. Making and parsing them is several times faster than with UTF-8.
  const encoding = isAscii(bytes) ? 'latin1' : isUtf8(bytes) ? 'utf8' : undefined;
  if (encoding === undefined) return undefined;
  const cut = objectAt < 0 ? undefined : managedFieldsOf(bytes, objectAt);
  const unchanged = held === undefined ? [] : unchangedMembers(bytes, { objectAt, cut, held });
  if (cut === undefined && unchanged.length === 0) return bytes.toString(encoding);
  return joined(bytes, { encoding, cut, unchanged });
}

/** Joins the bytes before decoding them: several strings and their concatenation make three times as much garbage. */
function joined(
  bytes: Buffer,
  {
    encoding,
    cut,
    unchanged,
  }: { readonly encoding: 'latin1' | 'utf8'; readonly cut: ByteRange | undefined; readonly unchanged: readonly ByteRange[] },
): string {
  const most = bytes.length + placeholder.length * unchanged.length;
  if (scratch.length < most) scratch = Buffer.allocUnsafeSlow(Math.max(most, 2 * scratch.length));
  let length = cut === undefined ? 0 : bytes.copy(scratch, 0, 0, cut.from);
  let from = cut?.to ?? 0;
  for (const member of unchanged) {
    length += bytes.copy(scratch, length, from, member.from);
    length += placeholder.copy(scratch, length);
    from = member.to;
  }
  length += bytes.copy(scratch, length, from);
  const text = scratch.toString(encoding, 0, length);
  if (scratch.length > largestScratchBytes) scratch = Buffer.alloc(0);
  return text;
}

/** Returns the held object of which the object in the bytes is a later state. Undefined if there is none, or if the bytes do not show it. */
function predecessorOf(bytes: Buffer, objectAt: number, heldOf: NonNullable<DecodeContext['held']>): KubernetesObject | undefined {
  const identity = objectAt < 0 ? undefined : identityInBytes(bytes, objectAt);
  const held = identity === undefined ? undefined : heldOf(identity.namespace, identity.name);
  return held?.metadata.uid === identity?.uid ? held : undefined;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Parses the text again, and keeps long integers exact. Undefined if the value is several thousand levels deep: the reviver recurses and
 * overflows the stack, unlike plain JSON.parse.
 */
function parseExactly(text: string): Json | undefined {
  try {
    return parseJsonExactly(text);
  } catch {
    return undefined;
  }
}

function exactObject(exact: Json | undefined, otherwise: KubernetesObject): KubernetesObject {
  return isKubernetesObject(exact) ? exact : otherwise;
}

/**
 * Removes `managedFields` that the byte search missed, because the key was escaped or occurred twice. This is rare, so the cost does not
 * matter.
 */
function withoutManagedFields(object: KubernetesObject): KubernetesObject {
  if (!Object.hasOwn(object.metadata, 'managedFields')) return object;
  const { managedFields: _, ...metadata } = object.metadata as JsonObject & KubernetesObject['metadata'];
  return { ...object, metadata };
}
