import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { invariant, MusterError } from '../core/errors.ts';

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
}

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
/** Characters: more than eight keys of 1,024 take, and the versions of twice as many sources as a stream may have. */
const maxCursorLength = 512 << 10;

/**
 * Seals with AES-256-GCM. Replicas with the same key read each other's cursors; after a change of the key old ones are refused.
 *
 * @param key 32 bytes, kept secret.
 */
export function createSeal(key: Uint8Array): Seal {
  invariant(key.length === keyBytes, `a key of ${keyBytes} bytes is needed, not of ${key.length}`);
  return {
    close(content, scope) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(digestOf(scope));
      return Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()]).toString('base64url');
    },
    open(cursor, scope) {
      try {
        return decrypt(key, cursor, scope);
      } catch {
        // Whatever is wrong with it: to tell one from another would say something about the key, the position or another user's list.
        throw foreignCursor();
      }
    },
  };
}

/** The one answer to every cursor that is not good here. */
export function foreignCursor(): MusterError {
  return new MusterError('BAD_INPUT', 'expected a cursor that this gateway gave to the same caller for the same filter and order');
}

function decrypt(key: Uint8Array, cursor: string, scope: SealScope): Uint8Array {
  const bytes = Buffer.from(cursor.slice(0, maxCursorLength), 'base64url');
  // Padding, other characters and idle bits would be read over: one cursor would have any number of spellings.
  invariant(bytes.toString('base64url') === cursor, 'a cursor is spelt as it was given');
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
