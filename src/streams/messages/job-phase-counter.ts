import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { SyncView } from '../../load/reads/reads.ts';
import { jobPhases, phaseOfJob } from '../../model/columns/job-phase.ts';
import type { JobPhaseCountView, JobSummaryView } from './changes-message.ts';

/** Number of Jobs in each phase, in the order of `jobPhases`. */
export type PhaseCounts = readonly number[];

/** The counts of all clusters at one moment. */
export type PhaseCountsByCluster = ReadonlyMap<ClusterName, PhaseCounts>;

/** Counts the Jobs of one source by phase while they change. */
export interface JobPhaseCounter {
  /** The current counts. The array is immutable: later changes make another one. */
  readonly counts: PhaseCounts;
  /** Counts one change of a Job. `before` or `object` is undefined if the selection did not contain the Job in that state. */
  changed(before: KubernetesObject | undefined, object: KubernetesObject | undefined): void;
  /** Replaces the counts by those of these Jobs. */
  recount(objects: Iterable<KubernetesObject>): void;
}

const zeros: PhaseCounts = jobPhases.map(() => 0);
const indexOfPhase = new Map(jobPhases.map((phase, index) => [phase, index]));

/** Creates a counter that has counted no Job. */
export function createJobPhaseCounter(): JobPhaseCounter {
  let counts = [...zeros];
  let given: PhaseCounts | undefined;

  const add = (object: KubernetesObject | undefined, number: number): void => {
    if (object === undefined) return;
    const index = indexOfPhase.get(phaseOfJob(object)) ?? 0;
    counts[index] = (counts[index] ?? 0) + number;
  };

  const own = (): void => {
    if (given !== undefined) counts = [...counts];
    given = undefined;
  };

  return {
    get counts() {
      given = counts;
      return counts;
    },
    changed(before, object) {
      own();
      add(before, -1);
      add(object, 1);
    },
    recount(objects) {
      given = undefined;
      counts = [...zeros];
      for (const object of objects) add(object, 1);
    },
  };
}

/** Makes the summary of these counts. `sync` has every requested cluster, with its state, in the order of the result. */
export function jobSummaryOf(counts: PhaseCountsByCluster, sync: readonly SyncView[]): JobSummaryView {
  const byCluster = sync.map((state) => {
    const ofCluster = counts.get(state.cluster.name) ?? zeros;
    return { cluster: state.cluster, total: sum(ofCluster), byPhase: byPhase(ofCluster), sync: state };
  });
  const all = jobPhases.map((_, index) => sum(sync.map(({ cluster }) => counts.get(cluster.name)?.[index] ?? 0)));
  const stale = byCluster.filter((cluster) => cluster.sync.phase !== 'SYNCED');
  return { total: sum(all), stale: sum(stale.map(({ total }) => total)), byPhase: byPhase(all), byCluster };
}

function byPhase(counts: PhaseCounts): readonly JobPhaseCountView[] {
  return jobPhases.map((phase, index) => ({ phase, count: counts[index] ?? 0 }));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
