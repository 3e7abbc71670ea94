import type { User } from '@kubernetes/client-node';

/** Returns the id token of an `auth-provider: oidc`, refreshed by client-node if it has expired. */
export type OidcTokens = () => Promise<string | undefined>;

/** Imports nothing before the first call: client-node costs half a second. Refreshed tokens stay in memory: they are not written to the file. */
export function createOidcTokens(settings: Readonly<Record<string, string>>): OidcTokens {
  // client-node writes refreshed tokens into the user that it is given.
  const user: User = { name: 'oidc', authProvider: { name: 'oidc', config: { ...settings } } };
  let loading: Promise<import('@kubernetes/client-node/dist/oidc_auth.js').OpenIDConnectAuth> | undefined;
  const load = async () => new (await import('@kubernetes/client-node/dist/oidc_auth.js')).OpenIDConnectAuth();
  return async () => {
    loading ??= load();
    const headers: Record<string, string> = {};
    await (await loading).applyAuthentication(user, { headers });
    return headers.Authorization?.replace(/^Bearer /, '');
  };
}
