import { isJsonObject, parseJsonBody } from '../core/json.ts';
import { listAt, textAt } from '../core/json-at.ts';

/** The access to a member: the values that the kubeconfig of a registered cluster may contain. */
export interface RegisteredAccess {
  readonly server: string;
  /** Certificates in PEM. Undefined: the certificates of the operating system are trusted. */
  readonly authority?: Uint8Array | undefined;
  readonly tlsServerName?: string | undefined;
  readonly token: string;
}

const only = 'member';

/** Prints a kubeconfig with one context, as JSON. */
export function printRegisteredKubeconfig({ server, authority, tlsServerName, token }: RegisteredAccess): string {
  const cluster = {
    server,
    ...(authority === undefined ? {} : { 'certificate-authority-data': Buffer.from(authority).toString('base64') }),
    ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
  };
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': only },
    clusters: [{ name: only, cluster }],
    users: [{ name: only, user: { token } }],
    contexts: [{ name: only, context: { cluster: only, user: only } }],
  });
}

/** Returns the token of a kubeconfig in the form of `printRegisteredKubeconfig`. Undefined for any other text. */
export function tokenOfKubeconfig(kubeconfig: Uint8Array): string | undefined {
  return textAt(listAt(parseJsonBody(kubeconfig), 'users')[0], 'user', 'token');
}

/** Returns the kubeconfig with another token. Undefined if it does not have the form of `printRegisteredKubeconfig`. */
export function withTokenInKubeconfig(kubeconfig: Uint8Array, token: string): string | undefined {
  const config = parseJsonBody(kubeconfig);
  if (!isJsonObject(config) || tokenOfKubeconfig(kubeconfig) === undefined) return undefined;
  return JSON.stringify({ ...config, users: [{ name: only, user: { token } }] });
}
