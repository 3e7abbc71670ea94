import type { JobSummary } from '../../../src/cli/watches/job-status.ts';
import type { JobState } from '../../../src/core/columns/job-cells.ts';

/** Makes the `jobStatus` of one Job. By default it is running and has one completion. */
export function jobState(cluster: string, name: string, parts: Partial<JobState> = {}): JobState {
  return {
    id: `${cluster}/${name}`,
    cluster: { name: cluster },
    namespace: 'batch',
    name,
    phase: 'RUNNING',
    active: 1,
    ready: 1,
    succeeded: 0,
    failed: 0,
    parallelism: 1,
    completions: 1,
    startTime: '2026-01-01T00:00:00Z',
    completionTime: null,
    conditions: [],
    job: { metadata: { uid: `uid of ${name}`, creationTimestamp: '2026-01-01T00:00:00Z', resourceVersion: '1' } },
    ...parts,
  };
}

const phases = ['COMPLETE', 'FAILED', 'TERMINATING', 'SUSPENDED', 'FAILURE_TARGET', 'RUNNING'];

/** Makes the summary of these Jobs. All clusters are in sync except those in `behind`. */
export function summaryOf(jobs: readonly JobState[], clusters: readonly string[], behind: readonly string[] = []): JobSummary {
  const count = (some: readonly JobState[]) => phases.map((phase) => ({ phase, count: some.filter((job) => job.phase === phase).length }));
  const fault = (name: string) => ({ code: 'UNREACHABLE', message: 'the connection was refused', cluster: { name } });
  return {
    total: jobs.length,
    stale: jobs.filter(({ cluster }) => behind.includes(cluster.name)).length,
    byPhase: count(jobs),
    byCluster: clusters.map((name) => {
      const own = jobs.filter(({ cluster }) => cluster.name === name);
      const isBehind = behind.includes(name);
      const sync = { phase: isBehind ? 'STALE' : 'SYNCED', asOf: '2026-01-01T00:00:00Z', fault: isBehind ? fault(name) : null };
      return { cluster: { name }, total: own.length, byPhase: count(own), sync };
    }),
  };
}
