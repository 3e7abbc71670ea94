import type { User } from '@kubernetes/client-node';

/** Gives the id token of an `auth-provider: oidc`, refreshed by client-node where it has expired. */
export type OidcTokens = () => Promise<string | undefined>;

/** Nothing is imported before the first call: client-node costs half a second. What was refreshed is kept in memory, not in the file. */
export function createOidcTokens(settings: Readonly<Record<string, string>>): OidcTokens {
  // client-node writes what it refreshed into the user it was given.
  const user: User = { name: 'oidc', authProvider: { name: 'oidc', config: { ...settings } } };
  let loading: Promise<(headers: { headers: Record<string, string> }) => Promise<void>> | undefined;
  const load = async () => {
    const { KubeConfig } = await import('@kubernetes/client-node');
    const config = new KubeConfig();
    config.loadFromClusterAndUser({ name: 'oidc', server: 'https://localhost', skipTLSVerify: false }, user);
    return async (options: { headers: Record<string, string> }) => {
      await config.applyToHTTPSOptions(options);
    };
  };
  return async () => {
    loading ??= load();
    const apply = await loading;
    const options: { headers: Record<string, string> } = { headers: {} };
    await apply(options);
    return options.headers.Authorization?.replace(/^Bearer /, '');
  };
}
