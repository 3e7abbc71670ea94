import { isJsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';

/** Facts about the location of a cluster, from its Nodes. A fact is undefined if no Node has it. */
export interface NodeFacts {
  /** The scheme of `spec.providerID`, such as `aws`, `gce`, `azure` or `kind`. */
  readonly provider?: string | undefined;
  readonly region?: string | undefined;
  /** The zones of all Nodes, ordered by code units. */
  readonly zones?: readonly string[] | undefined;
}

const regionLabels = ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'];
const zoneLabels = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];

/** Returns the provider and the region of most Nodes. Of equally frequent values, the first by code units wins. */
export function nodeFactsOf(nodes: Iterable<KubernetesObject>): NodeFacts {
  const providers = new Map<string, number>();
  const regions = new Map<string, number>();
  const zones = new Map<string, number>();
  for (const node of nodes) {
    count(providers, providerOf(node));
    count(regions, labelOf(node, regionLabels));
    count(zones, labelOf(node, zoneLabels));
  }
  const provider = mostFrequent(providers);
  const region = mostFrequent(regions);
  return {
    provider,
    region,
    zones: zones.size === 0 ? undefined : [...zones.keys()].sort(),
  };
}

function providerOf({ spec }: KubernetesObject): string | undefined {
  const id = isJsonObject(spec) ? spec.providerID : undefined;
  return typeof id === 'string' ? /^([a-z][a-z0-9+.-]*):\/\//i.exec(id)?.[1]?.toLowerCase() : undefined;
}

function labelOf({ metadata: { labels } }: KubernetesObject, keys: readonly string[]): string | undefined {
  const key = keys.find((candidate) => labels != null && Object.hasOwn(labels, candidate));
  return key === undefined ? undefined : labels?.[key];
}

function count(counts: Map<string, number>, value: string | undefined): void {
  if (value !== undefined && value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
}

function mostFrequent(counts: ReadonlyMap<string, number>): string | undefined {
  const [most] = [...counts].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
  return most?.[0];
}
