import { type ClusterFailure, clusterFailure } from '../cluster-failure.ts';
import type { Impersonation } from '../endpoint.ts';

/**
 * Returns the headers that ask the API server to act as another user: user, uid, every group, every extra value.
 *
 * Values are sent as UTF-8 bytes, as kubectl does. Keys of extra are in lower case and percent-encoded.
 */
export function impersonationHeaders(impersonation: Impersonation | undefined): Readonly<Record<string, string | readonly string[]>> {
  if (impersonation === undefined) return {};
  const { user, uid, groups, extra } = impersonation;
  return {
    'impersonate-user': toLatin1(user),
    ...(uid === undefined ? {} : { 'impersonate-uid': toLatin1(uid) }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups.map(toLatin1) }),
    ...Object.fromEntries(Object.entries(extra).map(([key, values]) => [`impersonate-extra-${encodeKey(key)}`, values.map(toLatin1)])),
  };
}

/**
 * Returns why this impersonation must not be requested. Undefined if it may be.
 *
 * Members of `system:masters` pass every check. RBAC rules with the verb `impersonate` cannot exclude this group, so the gateway refuses it.
 * Without a user, the server would use the gateway's own identity. An endpoint that already impersonates a user cannot impersonate
 * another one.
 *
 * @param own The headers that the endpoint's identity sends.
 */
export function impersonationFailure(as: Impersonation | undefined, own: Readonly<Record<string, unknown>>): ClusterFailure | undefined {
  if (as === undefined) return undefined;
  if (as.groups.includes(masters)) return clusterFailure('FORBIDDEN', `expected a user outside ${masters}`, 'NEVER');
  if (own['impersonate-user'] !== undefined)
    return clusterFailure(
      'FORBIDDEN',
      'the credentials of this cluster already impersonate a user, and cannot impersonate another',
      'NEVER',
    );
  const texts = [as.user, ...(as.uid === undefined ? [] : [as.uid]), ...as.groups, ...Object.values(as.extra).flat()];
  const keys = Object.keys(as.extra);
  if (texts.every(isHeaderSafe) && as.user !== '' && keys.every((key) => key !== '')) return undefined;
  return clusterFailure('INVALID', 'expected a user, groups and extra without control characters or spaces around them', 'NEVER');
}

const masters = 'system:masters';

/**
 * True if a header can carry the text unchanged. A header value loses the spaces around it, and the shortened text could name another user.
 */
function isHeaderSafe(text: string): boolean {
  return text === text.trim() && !/\p{Cc}/u.test(text);
}

/** Returns a text whose Latin-1 bytes are the UTF-8 bytes of `text`. Node writes header values as Latin-1, with one byte per character. */
function toLatin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function encodeKey(key: string): string {
  return encodeURIComponent(key.toLowerCase()).replace(/[()]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}
