// An embedded cluster in a process of its own, whose pods change. Answers `ChangingQuestion`s over IPC.
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { kubeconfigOf } from '../../../src/sim/kubeconfig-of.ts';
import type { SimCluster } from '../../../src/sim/sim-cluster.ts';
import { startSimCluster } from '../../../src/sim/start-sim-cluster.ts';
import { answerParent } from '../forked.ts';
import { podOf } from '../pods.ts';
import { paced } from './readers.ts';

export type ChangingQuestion =
  | { readonly type: 'start'; readonly pods: number }
  /** Done when all are made. Each has the time at which it was, at `bench` of its labels. */
  | { readonly type: 'change'; readonly perSecond: number; readonly seconds: number };

export interface ChangingAnswer {
  readonly kubeconfig?: string;
}

let cluster: SimCluster | undefined;
let pods = 0;
let made = 0;

answerParent(answer);

async function answer(question: ChangingQuestion): Promise<ChangingAnswer> {
  switch (question.type) {
    case 'start':
      ({ pods } = question);
      cluster = await startSimCluster({ name: 'bench', historyLength: 100_000 });
      for (let index = 0; index < pods; index += 1) cluster.put(podIn(index, 0, '0'));
      return { kubeconfig: kubeconfigOf([cluster]) };
    case 'change':
      await paced(question, (stamp) => {
        made += 1;
        cluster?.put(podIn(made % pods, made, stamp));
      });
      return {};
    default:
      return question satisfies never;
  }
}

function podIn(index: number, revision: number, stamp: string): KubernetesObject {
  const { metadata, ...rest } = podOf(index, { revision }) as KubernetesObject;
  const { managedFields: _, resourceVersion: _version, ...kept } = metadata;
  const labels = { ...metadata.labels, bench: stamp };
  return { apiVersion: 'v1', kind: 'Pod', ...rest, metadata: { ...kept, labels } } as KubernetesObject;
}
