import type { Impersonation } from './endpoint.ts';

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

/** Node writes header values as Latin-1: one character per byte. */
function inBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function encodeKey(key: string): string {
  return encodeURIComponent(key.toLowerCase()).replace(/[()]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}
