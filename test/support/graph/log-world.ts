import type { Access } from '../../../src/access/access.ts';
import { type ClusterName, clusterName } from '../../../src/core/names.ts';
import type { LiveMember } from '../../../src/load/reads/read-object.ts';
import { FakeLogs } from '../cluster/fake-logs.ts';
import { loadBaseline, servedAs } from '../kubernetes-objects.ts';
import { type SpeakingPod, speakingPod } from '../speaking-pods.ts';
import type { FakeCluster } from './fake-mirrors.ts';
import { graphOverMirrors } from './graph-over-mirrors.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');

/** Logs of Pods and containers that the test defines, without network and GraphQL. */
export interface LogWorld extends ReturnType<typeof graphOverMirrors> {
  /** @throws {Error} if no such cluster joined. */
  readonly logsOf: (cluster: string) => FakeLogs;
  /** Adds a cluster with these Pods that is in sync. */
  readonly join: (name: string, ...pods: readonly SpeakingPod[]) => FakeCluster;
}

/** Creates a world without clusters. */
export function createLogWorld(options: { readonly access?: Access } = {}): LogWorld {
  const logs = new Map<ClusterName, FakeLogs>();
  const nothing = async function* () {};
  const member = (name: ClusterName): LiveMember | undefined => {
    const own = logs.get(name);
    if (own === undefined) return undefined;
    return {
      settings: { labels: {}, namespaces: [], secrets: 'live', authorization: 'sar' },
      api: {
        cluster: name,
        list: nothing,
        watch: nothing,
        logs: (request, signal) => own.logs(request, signal),
        connectionFaults: [],
        send: () => Promise.reject(new Error('unused')),
      },
    };
  };
  const graph = graphOverMirrors({ model, member, ...options });
  return {
    ...graph,
    logsOf: (name) => {
      const found = logs.get(clusterName(name));
      if (found === undefined) throw new Error(`no cluster ${name}`);
      return found;
    },
    join(name, ...speaking) {
      logs.set(clusterName(name), new FakeLogs(clusterName(name), graph.clock));
      const cluster = graph.mirrors.join(name);
      cluster.discover(pods);
      cluster.mirror(pods).list(...speaking.map(speakingPod));
      return cluster;
    },
  };
}
