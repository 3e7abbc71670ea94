import { exitCodes } from '../client/command-failure.ts';
import type { ObjectPlan, Plan } from './plan.ts';

/** The objects that a plan would change, and the exit code of `plan --exit-code`. */
export interface PlanDifferences {
  readonly differences: readonly { readonly cluster: string; readonly object: ObjectPlan }[];
  /** 1 if something differs or the plan has an error; 3 if nothing differs, but a cluster did not answer or its mirror is old; else 0. */
  readonly exitCode: number;
}

/** Returns the objects that a plan would create, change or delete. Objects with the action UNCHANGED or HOLD do not count. */
export function planDifferences({ ok, clusters, faults, sync = [] }: Plan): PlanDifferences {
  const differences = clusters.flatMap(({ cluster, objects }) =>
    objects.filter(({ action }) => action !== 'UNCHANGED' && action !== 'HOLD').map((object) => ({ cluster: cluster.name, object })),
  );
  const isUnknown = sync.some(({ phase }) => phase !== 'SYNCED') || faults.length > 0 || clusters.some(({ fault }) => fault !== null);
  const exitCode = !ok || differences.length > 0 ? exitCodes.failed : isUnknown ? exitCodes.unknown : exitCodes.good;
  return { differences, exitCode };
}
