import type { Json } from '../../core/json.ts';
import { ClusterFaultReport } from '../client/cluster-faults.ts';
import { exitCodes } from '../client/command-failure.ts';
import type { ParsedIntent } from '../client/manifest-reader.ts';
import type { Session } from '../client/session.ts';
import { type DocumentFormat, printAnswers } from '../output/print-answer.ts';
import { paintFor, printable, textOfLines } from '../output/table.ts';
import { type Plan, planFields } from './plan.ts';
import { isShownWithCluster, planLines } from './plan-lines.ts';

/**
 * Prints what intents would do, without writing anything.
 *
 * @returns The exit code: 1 if a plan has an error, or a named cluster has a fault.
 */
export async function planIntents(session: Session, intents: readonly ParsedIntent[], output: DocumentFormat | undefined): Promise<number> {
  const { terminal } = session;
  const plans: Plan[] = [];
  for (const { input } of intents) plans.push(await planOf(session, input, output));
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
  return plans.every(({ ok }) => ok) ? report.exitCode() : exitCodes.failed;
}

/** Prints a plan for people. */
export async function printPlan({ terminal, clusters }: Session, plan: Plan, heading = ''): Promise<void> {
  const shown = clusters === null ? plan : { ...plan, clusters: plan.clusters.filter(({ cluster }) => clusters.includes(cluster.name)) };
  await terminal.out(`${heading}${textOfLines(planLines(shown, paintFor(terminal)))}`);
}

async function planOf({ gateway }: Session, input: Json, output: DocumentFormat | undefined): Promise<Plan> {
  const query = `query ($input: PropagationInput!) { planPropagation(input: $input) { ${planFields(output === undefined ? 'summary' : 'manifests')} } }`;
  const { planPropagation } = await gateway.query<{ readonly planPropagation: Plan }>(query, { input });
  return planPropagation;
}
