import type { ClusterName } from '../core/names.ts';

/** PEM text or bytes, or the absolute path of a file that holds them and is read again every 60 s. */
export type Material = { readonly type: 'data'; readonly data: Uint8Array } | { readonly type: 'file'; readonly path: string };

/** Whose signature on the serving certificate is believed. */
export type Trust =
  /** The roots that Node ships and the system adds. */
  | { readonly type: 'system' }
  | { readonly type: 'authority'; readonly certificates: Material }
  /** Nobody is asked. Allowed by the operator's own flag only; the cluster has the standing fault `INSECURE`. */
  | { readonly type: 'unverified' };

/** An `exec` plugin of the operator's own kubeconfig (client.authentication.k8s.io). Run without a shell. */
export interface ExecPlugin {
  readonly apiVersion: string;
  /** A bare name is looked for in `PATH`; anything else is an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the process: ours with the entry's own `env` on top. */
  readonly environment: Readonly<Record<string, string>>;
  readonly provideClusterInfo: boolean;
  readonly installHint?: string;
}

/** How the caller proves who he is, beside a client certificate. */
export type Credentials =
  | { readonly type: 'none' }
  | { readonly type: 'token'; readonly token: string }
  | { readonly type: 'tokenFile'; readonly path: string }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | { readonly type: 'exec'; readonly plugin: ExecPlugin }
  /** `auth-provider: oidc`, with its `config` as written. */
  | { readonly type: 'oidc'; readonly settings: Readonly<Record<string, string>> };

/** A client certificate and its key. */
export interface ClientCertificate {
  readonly certificate: Material;
  readonly key: Material;
}

/** Acting for somebody else: sent as `Impersonate-*` on every request. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** All that is needed to reach one API server as one identity. Holds secrets: never logged. */
export interface Endpoint {
  readonly name: ClusterName;
  /** `https://host:port`, perhaps with a path in front of all others; `http:` to loopback only. No userinfo, query or fragment. */
  readonly server: string;
  readonly trust: Trust;
  /** Sent as SNI and checked against the certificate instead of the host of `server`. */
  readonly tlsServerName?: string;
  readonly clientCertificate?: ClientCertificate;
  readonly credentials: Credentials;
  readonly impersonation?: Impersonation;
  /** An HTTP proxy that is asked to CONNECT, from `proxy-url` or from the environment. Absent: straight to the server. */
  readonly proxyUrl?: string;
  /** The context's own namespace. */
  readonly namespace?: string;
  /** gzip for lists and live answers: `auto` is on where a round trip takes 2 ms or more. */
  readonly compression: 'auto' | 'on' | 'off';
}
