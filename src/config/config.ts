import type { AuthorizationMode, InventoryType, Limits, LogLevel, SecretsMode } from './defaults.ts';
import type { TraceSettings } from './trace-settings.ts';

/** One cluster of the config file. Paths are absolute. */
export interface ConfiguredCluster {
  readonly name: string;
  /** Default: the kubeconfig of the flags, of KUBECONFIG or of the home folder. */
  readonly kubeconfig?: string;
  /** Default: the current context of the kubeconfig. */
  readonly context?: string;
  readonly insecure: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly provider?: string;
  readonly region?: string;
  readonly zones?: readonly string[];
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  readonly namespaces: readonly string[];
  readonly secrets: SecretsMode;
  /** How the rights of callers are decided. Ignored in local mode. */
  readonly authorization: AuthorizationMode;
  /** The prefixes that whole names of users and groups get in this cluster. Default: none. */
  readonly identity?: NamePrefixes;
}

/** Prefixes of the names of users and groups. Neither begins with `system:`. Empty: names stay as they are. */
interface NamePrefixes {
  readonly userPrefix: string;
  readonly groupPrefix: string;
}

/** A system whose resources on the hub become Propagations, and stay in sync with them. */
interface ConfiguredImporter {
  readonly system: 'MultiClusterResource';
  /**
   * The name of the service account that writes the copies of a resource. It is in the namespace of the resource. Default: the account of
   * the gateway.
   */
  readonly serviceAccount?: string;
}

/** A system whose clusters become members of the fleet while it lists them. */
export interface ConfiguredInventory {
  readonly type: InventoryType;
  /** The name of the cluster that holds the inventory. Default: the hub. */
  readonly cluster?: string;
  /** The namespaces in which objects and Secrets are looked for. Default: those of the system, else all. */
  readonly namespaces?: readonly string[];
  /** The selector, as after `-l`, of the objects that count. Default: all. */
  readonly labels?: string;
  /** The pattern of the names of members. It contains `{name}`. Default: `{name}`. */
  readonly nameAs: string;
  /** Access to the Secrets of the clusters that are found. */
  readonly secrets: SecretsMode;
  /** The ManagedServiceAccount with the credentials, for OpenClusterManagement. */
  readonly serviceAccount: string;
  /** The consumer whose Secrets are used, for ClusterProfile. */
  readonly consumer: string;
  /** The plugins that may be run for credentials, for ClusterProfile. Paths of commands are absolute. */
  readonly providers: readonly ConfiguredProvider[];
}

/** A credential plugin that the config allows for ClusterProfiles that name it. */
interface ConfiguredProvider {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A server that is called when a migration moves the traffic of an application. Paths are absolute. */
export interface ConfiguredHook {
  readonly name: string;
  /** https, or http to loopback. */
  readonly url: string;
  readonly timeoutMs: number;
  /** The file with the bearer token. Undefined: calls have no token. */
  readonly tokenFile?: string | undefined;
  /** The file with the certificates of authorities. Undefined: those of Node.js. */
  readonly caFile?: string | undefined;
}

/** The sources of backups that migrations may read. */
export interface ConfiguredBackups {
  /** Absolute paths of folders with archives. Empty: no archive is read from a file. */
  readonly folders: readonly string[];
  /** With `authentication`: the groups whose members may read these archives. Empty: no caller may. */
  readonly groups: readonly string[];
  /** True: backups may be downloaded over http from hosts other than loopback. */
  readonly allowHttp: boolean;
}

/** The certificate of the listener. Paths are absolute. */
export interface ConfiguredTls {
  readonly certFile: string;
  readonly keyFile: string;
}

/** An issuer of OpenID Connect whose tokens are accepted. Paths are absolute. */
export interface ConfiguredIssuer {
  /** https, exactly as in the claim `iss`. */
  readonly issuer: string;
  /** At least one. A token needs one of them. */
  readonly audiences: readonly string[];
  /** The file with the certificates of authorities. Undefined: those of Node.js. */
  readonly caFile?: string | undefined;
  readonly usernameClaim: string;
  readonly groupsClaim: string;
  readonly usernamePrefix: string;
  readonly groupsPrefix: string;
  /** Algorithms of signatures that are accepted. All have public keys, so neither `none` nor one with a shared secret is among them. */
  readonly algorithms: readonly string[];
}

/** Proxies that name callers in headers. Paths are absolute. */
export interface ConfiguredProxies {
  readonly caFile: string;
  /** Common names of proxies' certificates. At least one. */
  readonly allowedNames: readonly string[];
  readonly userHeader: string;
  /** Undefined: callers have no groups. */
  readonly groupHeader?: string | undefined;
}

/** The ways in which callers show who they are. At least one is set. Certificates and proxies need `Config.tls`. */
export interface ConfiguredAuthentication {
  /** Each issuer once. Empty: no tokens of OpenID Connect. */
  readonly oidc: readonly ConfiguredIssuer[];
  /** Set: tokens are checked by TokenReviews of the hub, so there must be a hub. Undefined: no token is checked this way. */
  readonly tokenReview?: { readonly audiences: readonly string[] } | undefined;
  readonly clientCertificates?: { readonly caFile: string } | undefined;
  readonly proxy?: ConfiguredProxies | undefined;
}

/** All settings, deeply frozen. Flags win over `MUSTER_*` variables, these over the config file, and the file over the defaults. */
export interface Config {
  /** True: use the embedded fleet, even if there is a kubeconfig. */
  readonly demo: boolean;
  /**
   * The kubeconfig of `--kubeconfig` or `MUSTER_KUBECONFIG`, which must exist. Default: KUBECONFIG, then the home folder, then the pod's
   * service account.
   */
  readonly kubeconfig?: string | undefined;
  /** The named contexts, which must exist. Empty: the clusters of `clusters`, else every context. */
  readonly contexts: readonly string[];
  /** Clusters of the config file. Empty: the contexts of the kubeconfig. */
  readonly clusters: readonly ConfiguredCluster[];
  /**
   * The name of the cluster that keeps Propagations. Undefined: in a Pod the cluster of the Pod, else there is no hub. The demo has a hub of its
   * own.
   */
  readonly hub?: string | undefined;
  /** Each system at most once. Empty without a hub. */
  readonly importers: readonly ConfiguredImporter[];
  /** Networks in CIDR notation in which registered and found clusters may be although they are private. */
  readonly allowPrivate: readonly string[];
  /** The namespace of the hub with the Secrets of registered clusters, and with the Lease. */
  readonly systemNamespace: string;
  readonly inventories: readonly ConfiguredInventory[];
  /** Each name at most once. */
  readonly hooks: readonly ConfiguredHook[];
  readonly backups: ConfiguredBackups;
  /** The absolute path of the config file. Undefined: there is none. When it changes, its `clusters` are read again. */
  readonly configFile?: string | undefined;
  readonly host: string;
  /** The port to listen on. 0: any free port. */
  readonly port: number;
  /** The port of /metrics. 0: any free port. Undefined: the main port serves metrics in local mode, else there are none. */
  readonly metricsPort?: number | undefined;
  /** Undefined: plain HTTP. */
  readonly tls?: ConfiguredTls | undefined;
  /** Undefined: local mode, in which each caller has the rights of the kubeconfig. */
  readonly authentication?: ConfiguredAuthentication | undefined;
  /** The audit. Undefined: nothing is recorded. `file` is absolute; if it is undefined, lines go to standard output. */
  readonly audit?: { readonly file?: string | undefined } | undefined;
  /** Origins of web pages that may send requests, as browsers spell them. */
  readonly allowOrigins: readonly string[];
  /** The file with the bearer token that every request must show. It may be undefined only if the host is loopback, or with `authentication`. */
  readonly tokenFile?: string | undefined;
  /** The file from which the key of cursors is derived. Undefined: the token file, else a key in the state directory. */
  readonly keyFile?: string | undefined;
  readonly logLevel: LogLevel;
  /** Access to Secrets, for clusters without a setting of their own. */
  readonly secrets: SecretsMode;
  /** Kinds that are as confidential as Secrets, by kind and group: `Widget.example.com`. */
  readonly sensitiveKinds: readonly string[];
  /** Groups, or `*.` and a suffix, whose custom kinds the schema includes or excludes. `deny` wins. Without `allow` all are included. */
  readonly kinds: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
  /** True: the schema is a subgraph for routers of Apollo Federation. */
  readonly federation: boolean;
  /** The collector of traces. Undefined: there are no traces. */
  readonly traces?: TraceSettings | undefined;
  /** True: every mutation is refused, and this gateway never becomes the leader. */
  readonly readOnly: boolean;
  readonly limits: Limits;
  /** Seconds between reporting "not ready" and refusing new connections. */
  readonly shutdownDelaySeconds: number;
  /**
   * The file that remembers the kinds of earlier runs. Default: `schema.json` in the state directory, and no file for the embedded fleet.
   */
  readonly schemaLock?: string | undefined;
  /** The folder for everything that must outlive the process: `$XDG_STATE_HOME/muster`. It may not exist yet. */
  readonly stateDirectory: string;
  /** The environment of the process, for finding kubeconfigs and running their credential plugins. */
  readonly environment: EnvironmentVariables;
}

/** The environment variables of a process. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The flags of the command line, as text. Undefined: the flag was not given. */
export interface Flags {
  readonly demo?: boolean | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: readonly string[] | undefined;
  readonly hub?: string | undefined;
  readonly config?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly metricsPort?: string | undefined;
  readonly allowOrigin?: readonly string[] | undefined;
  readonly tokenFile?: string | undefined;
  readonly schemaLock?: string | undefined;
  readonly federation?: boolean | undefined;
  readonly readOnly?: boolean | undefined;
  readonly otlp?: string | undefined;
  readonly logLevel?: string | undefined;
}
