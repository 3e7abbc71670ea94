import type { ObjectIdentity } from '../../core/objects.ts';
import { skipString, skipValue, startsWith } from './json-scan.ts';
import { pastManagedFields } from './managed-fields.ts';

const opening = Buffer.from('{');
const kindMember = Buffer.from('"kind":"');
const apiVersionMember = Buffer.from('"apiVersion":"');
const metadataMember = Buffer.from('"metadata":{');

/**
 * Reads the identity of an object from its bytes without parsing them, in about 1 µs.
 *
 * It knows the two orders of keys that API servers write without white space. Built-in kinds have the order of the Go struct: name,
 * generateName, namespace, selfLink, uid, resourceVersion. Custom resources have alphabetical order. For anything else it returns
 * undefined, also for escapes and non-ASCII. The caller then parses the object.
 *
 * @param objectAt Index of the opening brace. Default: 0.
 */
export function identityInBytes(bytes: Uint8Array, objectAt = 0): ObjectIdentity | undefined {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = metadataIn(buffer, objectAt);
  if (at < 0) return undefined;
  return structOrder(buffer, at) ?? alphabetOrder(buffer, at);
}

/** Returns the index after the brace of `metadata`, if only `kind` and `apiVersion` precede it. Else −1. */
function metadataIn(bytes: Buffer, objectAt: number): number {
  if (!startsWith(bytes, objectAt, opening)) return -1;
  let at = objectAt + 1;
  for (let members = 0; members < 3; members++) {
    if (startsWith(bytes, at, metadataMember)) return at + metadataMember.length;
    const member = startsWith(bytes, at, kindMember) ? kindMember : startsWith(bytes, at, apiVersionMember) ? apiVersionMember : undefined;
    if (member === undefined) return -1;
    at = skipString(bytes, at + member.length - 1);
    if (at < 0 || bytes[at] !== 0x2c) return -1;
    at++;
  }
  return -1;
}

const structKeys = ['name', 'generateName', 'namespace', 'selfLink', 'uid', 'resourceVersion'].map((key) => Buffer.from(`"${key}":"`));

function structOrder(bytes: Buffer, start: number): ObjectIdentity | undefined {
  const found: string[] = ['', '', '', '', '', ''];
  let at = start;
  for (let i = 0; i < structKeys.length; i++) {
    const key = structKeys[i];
    if (key === undefined || !startsWith(bytes, at, key)) continue;
    const from = at + key.length;
    const to = endOfPlainString(bytes, from);
    if (to < 0) return undefined;
    found[i] = bytes.toString('latin1', from, to);
    at = to + 2;
    if (bytes[to + 1] !== 0x2c) break;
  }
  const [name = '', , namespace = '', , uid = '', version = ''] = found;
  // If uid or resourceVersion is missing, the keys may be in another order, and the scan stopped too early.
  return name !== '' && uid !== '' && version !== '' ? { namespace, name, uid, version } : undefined;
}

function alphabetOrder(bytes: Buffer, start: number): ObjectIdentity | undefined {
  const found: { namespace: string; name: string; uid: string; version: string } = { namespace: '', name: '', uid: '', version: '' };
  let previous = '';
  let at = start;
  for (;;) {
    if (bytes[at] !== 0x22) return undefined;
    const keyEnd = endOfPlainString(bytes, at + 1);
    if (keyEnd < 0 || bytes[keyEnd + 1] !== 0x3a) return undefined;
    const key = bytes.toString('latin1', at + 1, keyEnd);
    // This also detects a key that occurs twice. Its last value counts, so the caller must parse the object.
    if (key <= previous) return undefined;
    previous = key;
    const valueAt = keyEnd + 2;
    const shortcut = key === 'managedFields' ? pastManagedFields(bytes, valueAt) : -1;
    const valueEnd = shortcut < 0 ? skipValue(bytes, valueAt) : shortcut;
    if (valueEnd < 0) return undefined;
    const slot = slotOf(key);
    if (slot !== undefined) {
      if (bytes[valueAt] !== 0x22 || endOfPlainString(bytes, valueAt + 1) !== valueEnd - 1) return undefined;
      found[slot] = bytes.toString('latin1', valueAt + 1, valueEnd - 1);
    }
    if (bytes[valueEnd] !== 0x2c) break;
    at = valueEnd + 1;
  }
  return found.name !== '' && found.uid !== '' && found.version !== '' ? found : undefined;
}

function slotOf(key: string): 'namespace' | 'name' | 'uid' | 'version' | undefined {
  if (key === 'resourceVersion') return 'version';
  return key === 'name' || key === 'namespace' || key === 'uid' ? key : undefined;
}

/** Returns the index of the closing quote of a plain ASCII string that begins before `from`. −1 for any other string. */
function endOfPlainString(bytes: Uint8Array, from: number): number {
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === 0x22) return i;
    if (byte === 0x5c || byte >= 0x80) return -1;
  }
  return -1;
}
