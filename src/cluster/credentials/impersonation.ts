import { type Breakage, breakage } from '../classify.ts';
import type { Impersonation } from '../endpoint.ts';

/**
 * The headers that ask the API server to take us for somebody else: user, uid, every group, every extra value.
 *
 * Values go as the bytes of their UTF-8, as kubectl sends them. Keys of extra are lower-cased and percent-encoded.
 */
export function impersonationHeaders(impersonation: Impersonation | undefined): Readonly<Record<string, string | readonly string[]>> {
  if (impersonation === undefined) return {};
  const { user, uid, groups, extra } = impersonation;
  return {
    'impersonate-user': inBytes(user),
    ...(uid === undefined ? {} : { 'impersonate-uid': inBytes(uid) }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups.map(inBytes) }),
    ...Object.fromEntries(Object.entries(extra).map(([key, values]) => [`impersonate-extra-${encodeKey(key)}`, values.map(inBytes)])),
  };
}

/**
 * Why nobody may act so; undefined if it may be asked for.
 *
 * Members of `system:masters` pass every check, and where impersonation is granted by old rules they cannot be excluded there: so they are here.
 * Without a user the server would take us for ourselves. Whoever the endpoint acts for may not become a third.
 *
 * @param own Headers that the endpoint's identity sends.
 */
export function problemOfActing(as: Impersonation | undefined, own: Readonly<Record<string, unknown>>): Breakage | undefined {
  if (as === undefined) return undefined;
  if (as.groups.includes(masters)) return breakage('FORBIDDEN', `expected somebody outside ${masters}`, 'NEVER');
  if (own['impersonate-user'] !== undefined)
    return breakage('FORBIDDEN', 'the credentials of this cluster act for somebody already, and cannot for another', 'NEVER');
  const texts = [as.user, ...(as.uid === undefined ? [] : [as.uid]), ...as.groups, ...Object.values(as.extra).flat()];
  const keys = Object.keys(as.extra);
  if (texts.every(isCarried) && as.user !== '' && keys.every((key) => key !== '')) return undefined;
  return breakage('INVALID', 'expected a user, groups and extra without control characters or spaces around them', 'NEVER');
}

const masters = 'system:masters';

/** A header loses spaces around its value, and would so name somebody else. */
function isCarried(text: string): boolean {
  return text === text.trim() && !/\p{Cc}/u.test(text);
}

/** Node writes header values as Latin-1: one character per byte. */
function inBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function encodeKey(key: string): string {
  return encodeURIComponent(key.toLowerCase()).replace(/[()]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}
