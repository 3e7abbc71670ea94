import type { Json } from '../../core/json.ts';
import { ClusterFaultReport } from '../client/cluster-faults.ts';
import { exitCodes } from '../client/command-failure.ts';
import type { ParsedIntent } from '../client/manifest-reader.ts';
import type { Session } from '../client/session.ts';
import { type DocumentFormat, printAnswers } from '../output/print-answer.ts';
import { paintFor, printable, textOfLines } from '../output/table.ts';
import { type Plan, planFields } from './plan.ts';
import { planDifferences } from './plan-differences.ts';
import { isShownWithCluster, planLines } from './plan-lines.ts';

export interface PlanIntentsOptions {
  readonly output: DocumentFormat | undefined;
  /** True: the exit code says whether anything differs (see `planDifferences`). Default: false. */
  readonly hasExitCode?: boolean | undefined;
}

/**
 * Prints what intents would do, without writing anything.
 *
 * @returns The exit code: 1 if a plan has an error, or a cluster of `--context` has a fault. With `hasExitCode`: the code of `planDifferences`.
 */
export async function planIntents(
  session: Session,
  intents: readonly ParsedIntent[],
  { output, hasExitCode = false }: PlanIntentsOptions,
): Promise<number> {
  const { terminal } = session;
  const plans = await plansOf(session, intents, output);
  if (output !== undefined) {
    const whole = plans.map((plan) => ({ ...plan }));
    await terminal.out(printAnswers(whole, output));
  } else {
    for (const [index, plan] of plans.entries()) {
      const { namespace = '', name = '' } = intents[index] ?? {};
      const heading = plans.length === 1 ? '' : `${index === 0 ? '' : '\n'}${printable(`${namespace}/${name}`)}\n`;
      await printPlan(session, plan, heading);
    }
  }
  const report = new ClusterFaultReport(session);
  for (const plan of plans)
    report.print(output === undefined ? plan.faults.filter((fault) => !isShownWithCluster(plan, fault)) : plan.faults);
  if (hasExitCode) {
    const codes = plans.map((plan) => planDifferences(plan).exitCode);
    return codes.find((code) => code === exitCodes.failed) ?? Math.max(...codes);
  }
  return plans.every(({ ok }) => ok) ? report.exitCode() : exitCodes.failed;
}

/** Prints a plan for people. */
export async function printPlan({ terminal, clusters }: Session, plan: Plan, heading = ''): Promise<void> {
  const shown = clusters === null ? plan : { ...plan, clusters: plan.clusters.filter(({ cluster }) => clusters.includes(cluster.name)) };
  await terminal.out(`${heading}${textOfLines(planLines(shown, paintFor(terminal)))}`);
}

/** Returns the plans of intents, in order. Requests one after the other. Writes nothing. With an output format, the plans have their manifests. */
export async function plansOf(
  session: Session,
  intents: readonly ParsedIntent[],
  output?: DocumentFormat | undefined,
): Promise<readonly Plan[]> {
  const plans: Plan[] = [];
  for (const { input } of intents) plans.push(await planOf(session, input, output));
  return plans;
}

/** Returns the plan of an intent. Writes nothing. With an output format, the plan has its manifests. */
export async function planOf({ gateway }: Session, input: Json, output: DocumentFormat | undefined): Promise<Plan> {
  const query = `query ($input: PropagationInput!) { planPropagation(input: $input) { ${planFields(output === undefined ? 'summary' : 'manifests')} } }`;
  const { planPropagation } = await gateway.query<{ readonly planPropagation: Plan }>(query, { input });
  return planPropagation;
}
