import type { Json } from '../core/json.ts';
import type { ClusterName } from '../core/names.ts';

/** PEM text or bytes. `file`: the absolute path of a file that holds them, which is read again every 60 s. */
export type PemMaterial = { readonly type: 'data'; readonly data: Uint8Array } | { readonly type: 'file'; readonly path: string };

/** How the certificate of the API server is verified. */
export type ServerTrust =
  /** The certificate of the server is verified by the root certificates of Node and of the system. */
  | { readonly type: 'system' }
  | { readonly type: 'authority'; readonly certificates: PemMaterial }
  /**
   * The certificate is not verified. The kubeconfig must ask for this (`insecure-skip-tls-verify`), and the cluster then always has the
   * fault `INSECURE`.
   */
  | { readonly type: 'unverified' };

/** An `exec` plugin of the operator's own kubeconfig or config file (client.authentication.k8s.io). It runs without a shell. */
export interface ExecPlugin {
  readonly apiVersion: string;
  /** A bare name is looked up in `PATH`. Anything else is an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the plugin. For a plugin of a kubeconfig: that of the gateway, overridden by the `env` of the kubeconfig. */
  readonly environment: Readonly<Record<string, string>>;
  readonly provideClusterInfo: boolean;
  readonly installHint?: string;
  /** Milliseconds after which the plugin is killed. Default: 60,000. */
  readonly deadlineMs?: number;
  /** The `config` that the plugin receives with the cluster. Default: null. */
  readonly config?: Json;
  /** True: failures do not show what the plugin wrote to stderr. Default: they show its beginning. */
  readonly isQuiet?: boolean;
  /** The provider of the config that the plugin belongs to. Plugins of other providers do not wait for it. Default: a kubeconfig of the operator. */
  readonly provider?: string;
}

/** The credentials of the endpoint, in addition to a client certificate. */
export type Credentials =
  | { readonly type: 'none' }
  | { readonly type: 'token'; readonly token: string }
  | { readonly type: 'tokenFile'; readonly path: string }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | { readonly type: 'exec'; readonly plugin: ExecPlugin }
  /** `auth-provider: oidc` with its `config` as written. */
  | { readonly type: 'oidc'; readonly settings: Readonly<Record<string, string>> };

/** A client certificate and its key. */
export interface ClientCertificate {
  readonly certificate: PemMaterial;
  readonly key: PemMaterial;
}

/** The user to impersonate, sent as `Impersonate-*` on every request. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The user on whose behalf a request is sent, and the operation that it belongs to. */
export interface ActingFor {
  /**
   * The identity to act as, sent in `Impersonate-*` headers. Default: the endpoint's own identity.
   *
   * The answer is `FORBIDDEN`, without a request, for members of `system:masters`, and if the endpoint itself impersonates a user. It is
   * `INVALID` for values that no header can carry.
   */
  readonly as?: Impersonation | undefined;
  /** The id of the operation, sent in the `User-Agent`, so that the audit log of the API server shows it. Default: no id. */
  readonly requestId?: string | undefined;
}

/** The rule for the addresses of a server that no file of the gateway's operator names. */
export interface AddressRule {
  /** Networks in CIDR notation that are allowed although they are private, such as `127.0.0.1/32`. */
  readonly allowPrivate: readonly string[];
  /** The position of the server in the description of the cluster, for messages: `clusters[0].cluster.server`. */
  readonly where: string;
}

/** Everything that is needed to reach one API server as one identity. It holds secrets and is never logged. */
export interface Endpoint {
  readonly name: ClusterName;
  /** `https://host:port`, optionally with a path prefix. `http:` is for loopback only. No userinfo, query or fragment. */
  readonly server: string;
  readonly trust: ServerTrust;
  /** The name sent as SNI and checked against the certificate. Default: the host of `server`. */
  readonly tlsServerName?: string;
  readonly clientCertificate?: ClientCertificate;
  readonly credentials: Credentials;
  readonly impersonation?: Impersonation;
  /** An HTTP proxy that supports CONNECT, from `proxy-url` or the environment. Default: a direct connection. */
  readonly proxyUrl?: string;
  /** The addresses that `server` may have. A change applies to the next connection. Absent if the operator's own file names the server: it may then have any address. */
  readonly addressRule?: AddressRule;
  /** The namespace of the context. Absent if the context names none. */
  readonly namespace?: string;
  /** gzip for lists and live answers. `on`: always. `off`: never. `auto`: if a round trip takes 2 ms or more. */
  readonly compression: 'auto' | 'on' | 'off';
}
