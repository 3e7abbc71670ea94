import type { Access, Caller } from '../../access/access.ts';
import { MusterError } from '../../core/errors.ts';
import { type ClusterName, parseClusterName } from '../../core/names.ts';
import { nearestWord } from '../../core/nearest-word.ts';
import type { MemberSettings } from '../../fleet/member.ts';
import type { StoreReader } from '../../store/mirror-store.ts';
import type { ClusterStatus, Mirrors } from '../../watch/mirrors.ts';
import { type NodeFacts, nodeFactsOf } from './node-facts.ts';
import type { ClusterView } from './reads.ts';

/** The clusters that a caller may see. A hidden cluster looks like an unknown one. */
export interface ClusterViews {
  /** Returns the clusters that the caller may see, ordered by name (code units). */
  visible(caller: Caller): readonly ClusterView[];
  find(caller: Caller, name: string): ClusterView | undefined;
  /**
   * Returns the cluster without a check of rights, or undefined if it is no member. The caller of this method must have checked them. The view
   * has no faults that name other clusters, except in local mode.
   */
  member(name: ClusterName): ClusterView | undefined;
  /**
   * Returns the named clusters, each once, ordered by name.
   *
   * @throws {MusterError} `BAD_INPUT` if a cluster is unknown or hidden. The message names it and suggests a similar name.
   */
  named(caller: Caller, names: readonly string[]): readonly ClusterView[];
}

interface ClusterViewsOptions {
  readonly mirrors: Mirrors;
  readonly access: Access;
  /** Returns the config of a cluster. Undefined if it has just left the fleet. */
  readonly settingsOf: (name: ClusterName) => MemberSettings | undefined;
}

/**
 * Creates the cluster views. Region, zones and provider come from the config, or else from the Nodes. They are facts of the cluster: every caller
 * who may see the cluster sees them, even without the right to list Nodes.
 */
export function createClusterViews({ mirrors, access, settingsOf }: ClusterViewsOptions): ClusterViews {
  const facts = createFactsCache();

  function viewOf({ name, phase, faults, version, asOfMs }: ClusterStatus, isVisible: (other: ClusterName) => boolean): ClusterView {
    const settings = settingsOf(name);
    const nodeFacts = facts.of(mirrors.peek(name, node)?.store);
    const provider = settings?.provider ?? nodeFacts.provider;
    const region = settings?.region ?? nodeFacts.region;
    return {
      name,
      labels: settings?.labels ?? nothing,
      taints: withUnreachableTaint(settings?.taints ?? none, phase),
      zones: settings?.zones ?? nodeFacts.zones ?? none,
      phase,
      faults: faults.some(({ other }) => other !== undefined)
        ? faults.filter(({ other }) => other === undefined || isVisible(other))
        : faults,
      provider,
      region,
      version,
      asOfMs,
    };
  }

  function seenBy(caller: Caller): (cluster: ClusterName) => boolean {
    return (cluster) => access.maySeeCluster(caller, cluster);
  }

  function visible(caller: Caller): readonly ClusterView[] {
    return mirrors
      .clusters()
      .filter(({ name }) => seenBy(caller)(name))
      .map((status) => viewOf(status, seenBy(caller)));
  }

  function find(caller: Caller, text: string): ClusterView | undefined {
    const name = parseClusterName(text);
    const state = name === undefined ? undefined : mirrors.cluster(name);
    return state !== undefined && access.maySeeCluster(caller, state.name) ? viewOf(state, seenBy(caller)) : undefined;
  }

  function named(caller: Caller, names: readonly string[]): readonly ClusterView[] {
    return [...new Set(names)].sort().map((name) => find(caller, name) ?? refuse(caller, name));
  }

  function refuse(caller: Caller, name: string): never {
    const near = nearestWord(
      name.slice(0, 253),
      visible(caller).map((view) => view.name),
    );
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    throw new MusterError('BAD_INPUT', `no cluster named ${JSON.stringify(name.slice(0, 80))}${hint}`);
  }

  function member(name: ClusterName): ClusterView | undefined {
    const state = mirrors.cluster(name);
    return state === undefined ? undefined : viewOf(state, seenBy(nobody));
  }

  return { visible, find, member, named };
}

/**
 * Returns the taints of a cluster in this phase. A cluster that does not answer has one more, `muster.dev/unreachable`: new copies avoid
 * the cluster, and existing copies stay.
 */
export function withUnreachableTaint(taints: ClusterView['taints'], phase: ClusterView['phase']): ClusterView['taints'] {
  return phase === 'UNREACHABLE' ? [...taints, unreachableTaint] : taints;
}

const unreachableTaint = { key: 'muster.dev/unreachable', effect: 'NoSchedule' } as const;

/** A caller without a user: sees all clusters in local mode, and none with authentication. */
const nobody: Caller = { key: '' };

const node = { group: '', kind: 'Node' };
const nothing = {};
const none: readonly never[] = [];

/** Creates a cache of the facts that come from the Nodes of each cluster. Facts are computed again only after the Nodes have changed. */
function createFactsCache(): { of(store: StoreReader | undefined): NodeFacts } {
  const known = new WeakMap<StoreReader, { readonly version: string | undefined; readonly size: number; readonly facts: NodeFacts }>();
  return {
    of(store) {
      if (store === undefined) return {};
      const last = known.get(store);
      if (last !== undefined && last.version === store.version && last.size === store.size) return last.facts;
      const facts = nodeFactsOf(store.objects());
      known.set(store, { version: store.version, size: store.size, facts });
      return facts;
    },
  };
}
