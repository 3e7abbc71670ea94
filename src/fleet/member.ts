import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { ClusterName } from '../core/names.ts';

/** The settings of a cluster, apart from how to reach it. */
export interface MemberSettings {
  readonly labels: Readonly<Record<string, string>>;
  readonly provider?: string;
  readonly region?: string;
  readonly zones?: readonly string[];
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  /** Namespaces to try first if a kind may not be listed in all: the configured ones, then the namespace of the context. */
  readonly namespaces: readonly string[];
  /**
   * How much of Secrets can be read. `none`: nothing. `metadata`: their metadata, from mirrors. `live`: also their data, by single requests
   * that are never mirrored.
   */
  readonly secrets: 'none' | 'metadata' | 'live';
  /**
   * How the rights of callers are decided. `sar`: by SubjectAccessReviews. `rbac`: from the RBAC objects of the cluster. `live`: by the API
   * server at each read. The cluster is then not mirrored, in local mode too. The other values have no meaning in local mode.
   */
  readonly authorization: 'sar' | 'rbac' | 'live';
  /** The texts that are put in front of the names of users and groups in this cluster. An empty text changes nothing. Default: none. */
  readonly identity?: { readonly userPrefix: string; readonly groupPrefix: string };
}

/** A cluster that belongs to the fleet. */
export interface Member {
  readonly name: ClusterName;
  readonly api: ClusterApi;
  /** The current settings. They may change while the cluster is a member, except `authorization` and `identity`: with others it leaves and joins again. */
  readonly settings: MemberSettings;
  /** Aborts when the cluster leaves, or when another cluster takes its name. Everything that was made for the member ends then. */
  readonly signal: AbortSignal;
}
