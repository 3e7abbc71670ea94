import type { Limits, LogLevel, SecretsMode } from './defaults.ts';

/** One cluster as the config file describes it. Paths are absolute. */
export interface ConfiguredCluster {
  readonly name: string;
  /** Absent: the usual kubeconfig. */
  readonly kubeconfig?: string;
  /** Absent: the kubeconfig's current context. */
  readonly context?: string;
  readonly insecure: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly provider?: string;
  readonly region?: string;
  readonly zones?: readonly string[];
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  readonly namespaces: readonly string[];
  readonly secrets: SecretsMode;
}

/** Everything Muster was told, deeply frozen. Flags win over `MUSTER_*`, these over the file, the file over the defaults. */
export interface Config {
  /** The embedded fleet, whatever kubeconfig there is. */
  readonly demo: boolean;
  /** The kubeconfig that was named by `--kubeconfig` or `MUSTER_KUBECONFIG`: it must be there. Absent: the usual places. */
  readonly kubeconfig?: string;
  /** The contexts that were named: they must be there. Empty: every context, or what `clusters` says. */
  readonly contexts: readonly string[];
  /** Empty: the contexts of the kubeconfig. */
  readonly clusters: readonly ConfiguredCluster[];
  /** The cluster that keeps Propagations, by its name in the fleet. Absent: none does; the demo has one of its own. */
  readonly hub?: string;
  /** The config file itself, absolute; its `clusters` are read again when it changes. */
  readonly configFile?: string;
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Origins of web pages that may ask, as browsers send them. */
  readonly allowOrigins: readonly string[];
  /** The file with the bearer token that every request must show. Absent only where the host is loopback. */
  readonly tokenFile?: string;
  readonly logLevel: LogLevel;
  /** Where a cluster of the config file does not say otherwise. */
  readonly secrets: SecretsMode;
  /** Kinds to be treated as Secrets are, by kind and group: `Widget.example.com`. */
  readonly sensitiveKinds: readonly string[];
  /** Groups, or `*.` and what they end in, whose custom kinds the schema has or has not. `deny` wins; without `allow` all are allowed. */
  readonly kinds: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
  readonly limits: Limits;
  /** Seconds between telling "not ready" and the end of accepting. */
  readonly shutdownDelaySeconds: number;
  /** Where the kinds of earlier runs are remembered. Absent: `schema.json` in the state directory, and nowhere for the embedded fleet. */
  readonly schemaLock?: string;
  /** Where what must outlive the process is kept: `$XDG_STATE_HOME/muster`. May not exist yet. */
  readonly stateDirectory: string;
  /** The environment of the process, for finding kubeconfigs and running their credential plugins. */
  readonly environment: EnvironmentVariables;
}

/** The variables of a process. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** What the command line said, as text. Absent: not said. */
export interface Flags {
  readonly demo?: boolean;
  readonly kubeconfig?: string;
  readonly context?: readonly string[];
  readonly hub?: string;
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
  readonly allowOrigin?: readonly string[];
  readonly tokenFile?: string;
  readonly schemaLock?: string;
  readonly logLevel?: string;
}
