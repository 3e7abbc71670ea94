import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { ClusterName } from '../core/names.ts';

/** What the config says of a cluster beyond how to reach it. */
export interface MemberSettings {
  readonly labels: Readonly<Record<string, string>>;
  readonly provider?: string;
  readonly region?: string;
  readonly zones?: readonly string[];
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  /** Namespaces to try first where a kind may not be listed in all: those configured, then the context's own. */
  readonly namespaces: readonly string[];
  /** What may be had of Secrets. */
  readonly secrets: 'none' | 'metadata' | 'live';
}

/** A cluster that belongs to the fleet now. */
export interface Member {
  readonly name: ClusterName;
  readonly api: ClusterApi;
  /** As they are described now: labels, region, provider, zones and taints change while it is a member. */
  readonly settings: MemberSettings;
  /** Aborts when the cluster leaves, or is replaced by one of the same name: then everything made for it ends. */
  readonly signal: AbortSignal;
}
