import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { SyncView } from '../../load/reads/reads.ts';
import { jobPhases, phaseOfJob } from '../../model/columns/job-phase.ts';
import type { JobPhaseCountView, JobSummaryView } from './changes-message.ts';

/** How many Jobs are in each phase, in the order of `jobPhases`. */
export type PhaseCounts = readonly number[];

/** Counts of clusters as of one moment. */
export type CountsByCluster = ReadonlyMap<ClusterName, PhaseCounts>;

/** The Jobs of one source, counted as they change. */
export interface JobPhaseCounter {
  /** The counts now. Immutable: later changes make other ones. */
  readonly counts: PhaseCounts;
  /** One Job became another state of itself; undefined where it was not, or is no more, part of the selection. */
  changed(before: KubernetesObject | undefined, object: KubernetesObject | undefined): void;
  /** All there is. */
  recount(objects: Iterable<KubernetesObject>): void;
}

const zeros: PhaseCounts = jobPhases.map(() => 0);
const indexOfPhase = new Map(jobPhases.map((phase, index) => [phase, index]));

/** Nothing counted. */
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

/** The summary of these counts, over every cluster asked: in which order, and how true, `sync` says. */
export function jobSummaryOf(counts: CountsByCluster, sync: readonly SyncView[]): JobSummaryView {
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
