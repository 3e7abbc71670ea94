import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { invariant, MusterError } from '../../core/errors.ts';
import { type OrderPosition, parseOrderPosition } from '../../store/query/cursor.ts';

/** The list or stream that a cursor belongs to. A cursor opens only with the scope that sealed it. */
export type SealScope = ListScope | StreamScope;

/** The scope of a list. The cursor of another caller does not open, because a cursor contains the name of an object. */
export interface ListScope {
  /** The key of the caller, from `Caller.key`. */
  readonly callerKey: string;
  /** A text of everything that decides the objects of the list and their order. Equal texts mean equal lists. */
  readonly filter: string;
}

/**
 * The scope of a stream. Any caller may open the cursor of a stream, because the cursor contains only versions and grants no rights. So all
 * readers of a stream share one cursor.
 */
export interface StreamScope {
  /** A text of everything that decides the streamed objects. Equal texts mean equal streams. */
  readonly stream: string;
}

/** Encrypts positions as cursors, and decrypts them. */
export interface Seal {
  /** Encrypts a position, and returns the cursor: a text of URL-safe characters. Each call returns another text. */
  close(content: Uint8Array, scope: SealScope): string;
  /**
   * Returns the content of a cursor.
   *
   * @throws {MusterError} `BAD_INPUT` if the cursor was not sealed with this key and scope, or if its text was changed. The message is the
   * same in all cases.
   */
  open(cursor: string, scope: SealScope): Uint8Array;
  /**
   * True if the cursor is intact and belongs to this stream, but another key sealed it: that of another gateway, or an earlier key of this one.
   * Such a cursor cannot be read, and may be forged. It only shows that the stream must start again.
   */
  isOfOtherKey(cursor: string, scope: StreamScope): boolean;
}

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const keyIdBytes = 4;
const checkBytes = 8;
/**
 * Maximum length of a cursor, in characters. A list cursor with eight keys of 1,024 characters fits. So does a stream cursor with twice the
 * allowed number of sources.
 */
const maxCursorLength = 512 << 10;

/**
 * Creates a seal with AES-256-GCM. Replicas with the same key read each other's cursors.
 *
 * After a change of the key, cursors of lists are refused. Cursors of streams are recognised: they begin with an id of the key, and end with a
 * checksum of the preceding bytes and the scope.
 *
 * @param key 32 secret bytes.
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
        // All errors look the same. A distinction would reveal something about the key, the position or the list of another user.
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

/**
 * Splits the cursor of a stream into the id of the key and the sealed bytes. `isWhole` is true if the cursor was not damaged and belongs to
 * this stream.
 */
function partsOf(bytes: Buffer, scope: StreamScope): { readonly id: Buffer; readonly sealed: Buffer; readonly isWhole: boolean } {
  const id = bytes.subarray(0, keyIdBytes);
  const sealed = bytes.subarray(keyIdBytes, -checkBytes);
  return { id, sealed, isWhole: bytes.subarray(-checkBytes).equals(checkSumOf(id, sealed, scope)) };
}

function checkSumOf(keyId: Uint8Array, sealed: Uint8Array, scope: StreamScope): Uint8Array {
  return createHash('sha256').update(keyId).update(sealed).update(digestOf(scope)).digest().subarray(0, checkBytes);
}

/**
 * Returns the position in a cursor of this scope. Undefined without a cursor.
 *
 * @throws {MusterError} `BAD_INPUT` for a cursor that does not open, or does not contain a position.
 */
export function openPosition(seal: Seal, cursor: string | null | undefined, scope: SealScope): OrderPosition | undefined {
  if (cursor == null) return undefined;
  const position = parseOrderPosition(seal.open(cursor, scope));
  if (position === undefined) throw foreignCursor();
  return position;
}

/** Creates the `BAD_INPUT` error for any cursor that is not valid for the list or stream. */
export function foreignCursor(): MusterError {
  return new MusterError('BAD_INPUT', 'expected a cursor that this gateway gave to the same caller for the same filter and order');
}

function bytesOf(cursor: string): Buffer {
  const bytes = Buffer.from(cursor.slice(0, maxCursorLength), 'base64url');
  // The decoder ignores padding, illegal characters and unused bits. Without this check, one cursor would have any number of spellings.
  invariant(bytes.toString('base64url') === cursor, 'a cursor is spelled as it was given');
  return bytes;
}

function decrypt(key: Uint8Array, bytes: Uint8Array, scope: SealScope): Uint8Array {
  const end = bytes.length - tagBytes;
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(digestOf(scope)).setAuthTag(bytes.subarray(end));
  return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, end)), decipher.final()]);
}

/** The digests of scopes. Cached, because one list seals all its cursors with one scope. */
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
