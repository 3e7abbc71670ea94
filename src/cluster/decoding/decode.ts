import { isAscii, isUtf8 } from 'node:buffer';
import type { Fault } from '../../core/faults.ts';
import { isJsonObject, type Json, type JsonObject, parseJsonExactly, tryParseJson } from '../../core/json.ts';
import type { ServedResource } from '../../core/kinds.ts';
import { type ClusterName, parseResourceVersion, type ResourceVersion } from '../../core/names.ts';
import { isKubernetesObject, type KubernetesObject } from '../../core/objects.ts';
import { breakage, breakageOfErrorEvent, faultOf } from '../classify.ts';
import { findMember } from './json-scan.ts';
import { managedFieldsOf } from './managed-fields.ts';

export { identityIn } from './identity-in.ts';

/** Parses the same bytes again, keeping integers beyond 2⁵³−1 as `RawNumber`. Five times slower than the first time. */
type ExactParse = () => KubernetesObject;

/** One line of a watch. `managedFields` have been cut from the top-level metadata, and nowhere else. */
export type DecodedEvent =
  | {
      readonly type: 'applied';
      readonly wireType: 'ADDED' | 'MODIFIED';
      readonly object: KubernetesObject;
      readonly version: ResourceVersion;
      readonly exactly: ExactParse;
    }
  | { readonly type: 'deleted'; readonly object: KubernetesObject; readonly version: ResourceVersion; readonly exactly: ExactParse }
  /** `version` is absent if the server sent none. */
  | { readonly type: 'bookmark'; readonly version?: ResourceVersion; readonly initialEventsEnd: boolean }
  /** An ERROR event; or a Table or List where an object should be: `MALFORMED`, and what is held is still right (docs/internals/mirror.md 3.1, row 18). */
  | { readonly type: 'error'; readonly fault: Fault }
  /** Not understood, so perhaps an event lost (row 17). */
  | { readonly type: 'unreadable'; readonly reason: string };

/** Whose events these are. */
export interface DecodeContext {
  readonly cluster: ClusterName;
  readonly resource: ServedResource;
}

export type DecodedItem =
  | { readonly type: 'item'; readonly object: KubernetesObject; readonly exactly: ExactParse }
  | { readonly type: 'unreadable'; readonly reason: string };

const objectKey = Buffer.from('object');

/**
 * One line of a watch as an event. Never throws: what is not JSON, not UTF-8, of another kind, or without name or version is `unreadable`.
 *
 * An object without `kind` counts as one of ours; so does `PartialObjectMetadata`.
 */
export function decodeEvent(frame: Uint8Array, context: DecodeContext): DecodedEvent {
  const bytes = bufferOf(frame);
  const text = textWithoutManagedFields(bytes, findMember(bytes, 0, objectKey));
  if (text === undefined) return unreadable('expected UTF-8');
  const event = tryParseJson(text);
  if (!isJsonObject(event)) return unreadable(event === undefined ? 'expected a line of JSON' : 'expected a JSON object');
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return decodeChange(event.type, event.object, { text, context });
    case 'BOOKMARK':
      return decodeBookmark(event.object, context);
    case 'ERROR':
      return { type: 'error', fault: faultOf(breakageOfErrorEvent(event.object), { cluster: context.cluster, kind: context.resource }) };
    default:
      return unreadable('expected type ADDED, MODIFIED, DELETED, BOOKMARK or ERROR');
  }
}

/** One item of a list as an object. Never throws. An item may have no version (kinds that are not stored), but has a name. */
export function decodeItem(item: Uint8Array): DecodedItem {
  const text = textWithoutManagedFields(bufferOf(item), 0);
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
  { text, context }: { readonly text: string; readonly context: DecodeContext },
): DecodedEvent {
  const strange = strangeKind(object, context);
  if (strange !== undefined) return strange;
  if (!isKubernetesObject(object)) return unreadable('expected an object with a name');
  const version = parseResourceVersion(object.metadata.resourceVersion);
  if (version === undefined) return unreadable('expected an object with a resourceVersion');
  const event = {
    object: withoutManagedFields(object),
    version,
    exactly: () => {
      const exact = parseExactly(text);
      return withoutManagedFields(exactObject(isJsonObject(exact) ? exact.object : undefined, object));
    },
  };
  return wireType === 'DELETED' ? { type: 'deleted', ...event } : { type: 'applied', wireType, ...event };
}

function decodeBookmark(object: Json | undefined, context: DecodeContext): DecodedEvent {
  const strange = strangeKind(object, context);
  if (strange !== undefined) return strange;
  const metadata = isJsonObject(object) && isJsonObject(object.metadata) ? object.metadata : {};
  const version = parseResourceVersion(metadata.resourceVersion);
  const annotations = isJsonObject(metadata.annotations) ? metadata.annotations : {};
  const initialEventsEnd = annotations['k8s.io/initial-events-end'] === 'true';
  return { type: 'bookmark', initialEventsEnd, ...(version === undefined ? {} : { version }) };
}

function strangeKind(object: Json | undefined, { cluster, resource }: DecodeContext): DecodedEvent | undefined {
  const kind = isJsonObject(object) ? object.kind : undefined;
  if (kind === undefined || kind === resource.kind || kind === 'PartialObjectMetadata') return undefined;
  if (kind === 'Table' || kind === `${resource.kind}List`) {
    return {
      type: 'error',
      fault: faultOf(breakage('MALFORMED', `expected events of ${resource.kind}, got a ${kind}`), { cluster, kind: resource }),
    };
  }
  return unreadable(`expected an object of kind ${resource.kind}`);
}

function unreadable(reason: string): { readonly type: 'unreadable'; readonly reason: string } {
  return { type: 'unreadable', reason };
}

/** Where text is put together. Kept between calls unless one was large. */
let scratch = Buffer.alloc(0);
const largestScratchBytes = 1 << 20;

/** The text without the bytes of `managedFields` of the object at `objectAt`; undefined if it is not UTF-8. */
function textWithoutManagedFields(bytes: Buffer, objectAt: number): string | undefined {
  // Latin-1 strings have one byte per character and are several times faster to make and to parse than what UTF-8 may give.
  const encoding = isAscii(bytes) ? 'latin1' : isUtf8(bytes) ? 'utf8' : undefined;
  if (encoding === undefined) return undefined;
  const cut = objectAt < 0 ? undefined : managedFieldsOf(bytes, objectAt);
  if (cut === undefined) return bytes.toString(encoding);
  // Joined as bytes: two strings and their sum are three times the garbage of one.
  const length = bytes.length - (cut.to - cut.from);
  if (scratch.length < length) scratch = Buffer.allocUnsafeSlow(Math.max(length, 2 * scratch.length));
  bytes.copy(scratch, 0, 0, cut.from);
  bytes.copy(scratch, cut.from, cut.to);
  const text = scratch.toString(encoding, 0, length);
  if (scratch.length > largestScratchBytes) scratch = Buffer.alloc(0);
  return text;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Undefined where a reviver gives up, which recurses as JSON.parse does not: several thousand levels deep. */
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

/** What the cut did not find, as the key was escaped or stood there twice. Rare, so it may cost. */
function withoutManagedFields(object: KubernetesObject): KubernetesObject {
  if (!Object.hasOwn(object.metadata, 'managedFields')) return object;
  const { managedFields: _, ...metadata } = object.metadata as JsonObject & KubernetesObject['metadata'];
  return { ...object, metadata };
}
