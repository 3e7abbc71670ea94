import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { invariant, MusterError } from '../../core/errors.ts';
import { type OrderPosition, parseOrderPosition } from '../../store/query/cursor.ts';

/** What a cursor is good for: none of another list or stream opens. */
export type SealScope = ListScope | StreamScope;

/** Nobody else's cursor opens: it names an object. */
export interface ListScope {
  /** `Caller.key`. */
  readonly callerKey: string;
  /** Whatever decides which objects the list holds, and in what order: equal text, equal list. */
  readonly filter: string;
}

/** Whoever holds it may open it: it holds versions only and authorises nothing, so that all readers of a stream share one. */
export interface StreamScope {
  /** Whatever decides which objects are streamed: equal text, equal stream. */
  readonly stream: string;
}

/** Turns positions into cursors that say nothing to whoever holds them, and back. */
export interface Seal {
  /** A text of URL-safe characters, another one at each call. */
  close(content: Uint8Array, scope: SealScope): string;
  /**
   * @throws {MusterError} `BAD_INPUT`, always the same one, if the cursor was not closed with this key and this scope, or is spelt otherwise than
   * it was given.
   */
  open(cursor: string, scope: SealScope): Uint8Array;
  /**
   * True if the cursor is whole and of this stream, but closed with another key: of another gateway, or of this one before its key changed. Nothing in
   * it can be read, and no key proves that it was not forged: it is good for beginning anew only.
   */
  isOfOtherKey(cursor: string, scope: StreamScope): boolean;
}

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const keyIdBytes = 4;
const checkBytes = 8;
/** Characters: more than eight keys of 1,024 take, and the versions of twice as many sources as a stream may have. */
const maxCursorLength = 512 << 10;

/**
 * Seals with AES-256-GCM. Replicas with the same key read each other's cursors. After a change of the key those of lists are refused, and those of
 * streams are known as such: they begin with an id of the key, and end with a check sum over what comes before and the scope.
 *
 * @param key 32 bytes, kept secret.
 */
export function createSeal(key: Uint8Array): Seal {
  invariant(key.length === keyBytes, `a key of ${keyBytes} bytes is needed, not of ${key.length}`);
  const keyId = createHash('sha256').update('id of a sealing key').update(key).digest().subarray(0, keyIdBytes);
  return {
    close(content, scope) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(digestOf(scope));
      const sealed = Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
      if (!('stream' in scope)) return sealed.toString('base64url');
      return Buffer.concat([keyId, sealed, checkSumOf(keyId, sealed, scope)]).toString('base64url');
    },
    open(cursor, scope) {
      try {
        const bytes = bytesOf(cursor);
        if (!('stream' in scope)) return decrypt(key, bytes, scope);
        const { sealed, isWhole } = partsOf(bytes, scope);
        invariant(isWhole, 'a cursor is as it was given');
        return decrypt(key, sealed, scope);
      } catch {
        // Whatever is wrong with it: to tell one from another would say something about the key, the position or another user's list.
        throw foreignCursor();
      }
    },
    isOfOtherKey(cursor, scope) {
      const bytes = Buffer.from(cursor.slice(0, maxCursorLength), 'base64url');
      if (bytes.toString('base64url') !== cursor) return false;
      const { id, isWhole } = partsOf(bytes, scope);
      return isWhole && !id.equals(keyId);
    },
  };
}

/** A cursor of a stream, divided. `isWhole`: nothing of it was changed by accident, and it is of this stream. */
function partsOf(bytes: Buffer, scope: StreamScope): { readonly id: Buffer; readonly sealed: Buffer; readonly isWhole: boolean } {
  const id = bytes.subarray(0, keyIdBytes);
  const sealed = bytes.subarray(keyIdBytes, -checkBytes);
  return { id, sealed, isWhole: bytes.subarray(-checkBytes).equals(checkSumOf(id, sealed, scope)) };
}

function checkSumOf(keyId: Uint8Array, sealed: Uint8Array, scope: StreamScope): Uint8Array {
  return createHash('sha256').update(keyId).update(sealed).update(digestOf(scope)).digest().subarray(0, checkBytes);
}

/** The position that a cursor of this scope was made of. Undefined without a cursor. @throws {MusterError} As `foreignCursor`. */
export function openPosition(seal: Seal, cursor: string | null | undefined, scope: SealScope): OrderPosition | undefined {
  if (cursor == null) return undefined;
  const position = parseOrderPosition(seal.open(cursor, scope));
  if (position === undefined) throw foreignCursor();
  return position;
}

/** The one answer to every cursor that is not good here. */
export function foreignCursor(): MusterError {
  return new MusterError('BAD_INPUT', 'expected a cursor that this gateway gave to the same caller for the same filter and order');
}

function bytesOf(cursor: string): Buffer {
  const bytes = Buffer.from(cursor.slice(0, maxCursorLength), 'base64url');
  // Padding, other characters and idle bits would be read over: one cursor would have any number of spellings.
  invariant(bytes.toString('base64url') === cursor, 'a cursor is spelt as it was given');
  return bytes;
}

function decrypt(key: Uint8Array, bytes: Uint8Array, scope: SealScope): Uint8Array {
  const end = bytes.length - tagBytes;
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(digestOf(scope)).setAuthTag(bytes.subarray(end));
  return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, end)), decipher.final()]);
}

/** One list seals all its cursors with one scope. */
const digests = new WeakMap<SealScope, Uint8Array>();

function digestOf(scope: SealScope): Uint8Array {
  const known = digests.get(scope);
  if (known !== undefined) return known;
  const digest = createHash('sha256')
    .update(JSON.stringify('stream' in scope ? ['stream', scope.stream, null] : [scope.callerKey, scope.filter]))
    .digest();
  digests.set(scope, digest);
  return digest;
}
