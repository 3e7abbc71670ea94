import { phaseText } from '../../core/columns/kubectl-text.ts';
import { type IntentNote, noteFields } from '../../core/columns/plan-texts.ts';
import { propagationSummary } from '../../core/columns/propagation-texts.ts';
import { type ClusterFault, ClusterFaultReport, faultFields } from '../client/cluster-faults.ts';
import { exitCodes } from '../client/command-failure.ts';
import { type Mutation, type MutationInputs, mutate } from '../client/gateway-client.ts';
import type { Session } from '../client/session.ts';
import { type DocumentFormat, printAnswers } from '../output/print-answer.ts';
import { printable } from '../output/table.ts';
import type { PropagationKey } from '../writes/write-targets.ts';
import { type Plan, planFields } from './plan.ts';
import { printPlan } from './plan-intents.ts';
import { noteLine, refusalLines } from './plan-lines.ts';
import { createPropagationShow, silentShow } from './propagation-show.ts';
import { failoverLines, obstacleLines, propagationFields, type ShownPropagation } from './propagation-state.ts';
import { type FollowedPropagation, type PropagationEnd, watchPropagations } from './watch-propagations.ts';

/** The result of a mutation of a Propagation. */
interface PropagationOutcome {
  readonly result: string;
  readonly propagation: ShownPropagation | null;
  readonly plan: Plan | null;
  readonly notes: readonly IntentNote[];
  readonly faults: readonly ClusterFault[];
}

function outcomeFields(output: OutcomeFormat | undefined): string {
  const plan = planFields(output === 'json' || output === 'yaml' ? 'manifests' : 'summary');
  return `result propagation { ${propagationFields} } plan { ${plan} } notes { ${noteFields} } faults { ${faultFields} }`;
}

/** The result for one named Propagation. */
interface NamedOutcome extends PropagationKey {
  readonly outcome: PropagationOutcome;
}

export type OutcomeFormat = DocumentFormat | 'name';

export interface OutcomeOptions {
  readonly output: OutcomeFormat | undefined;
  /** Returns the word for what was done to an accepted Propagation, as kubectl prints it: `paused`. */
  readonly word: (propagation: ShownPropagation) => string;
  /** How far to follow accepted Propagations (see `FollowedPropagation`). `accepted`: not at all. */
  readonly until: FollowedPropagation['until'] | 'accepted';
}

/**
 * For a change that leads to a new plan: milliseconds for which a good or bad phase must last before it counts as the end. A copy may be unhealthy
 * for a moment.
 */
const newPlanPatience = { good: 0, bad: 3_000 } as const;

/**
 * For a change without a new plan: milliseconds for which a phase must last before it counts as the end. A bad phase may be older than the change: if
 * the controller was killed, the next leader acts only after the Lease has expired.
 */
const samePlanPatience = { good: 0, bad: 25_000 } as const;

/**
 * For a controller that starts in this process: milliseconds for which a phase must last before it counts as the end. A good phase must last too,
 * because the new controller checks settled Propagations once more.
 */
const ownControllerPatience = { good: 2_000, bad: 25_000 } as const;

/** Returns the mutation inputs that name a Propagation. */
export function keyInputs({ namespace, name }: PropagationKey): MutationInputs {
  return { namespace: { type: 'String!', value: namespace }, name: { type: 'String!', value: name } };
}

/** A mutation of one Propagation. */
export type PropagationChange = PropagationKey & Pick<Mutation, 'field' | 'inputs'>;

/**
 * Sends mutations one after the other. Prints a line for each result as kubectl does, and the reasons for a refusal.
 *
 * Then follows the accepted Propagations to the end that `options.until` names.
 *
 * @returns The exit code: 1 if a mutation was not accepted or a Propagation did not end well.
 */
export async function changePropagations(
  session: Session,
  changes: readonly PropagationChange[],
  options: OutcomeOptions,
): Promise<number> {
  const { output, until } = options;
  const selection = outcomeFields(output);
  const named: NamedOutcome[] = [];
  for (const { namespace, name, field, inputs } of changes) {
    const one = { namespace, name, outcome: await mutate<PropagationOutcome>(session.gateway, { field, inputs, selection }) };
    await reportOutcome(session, one, options);
    named.push(one);
  }
  const accepted = named.filter(({ outcome }) => outcome.result === 'ACCEPTED' || outcome.result === 'UNCHANGED');
  const followed = accepted.map((one) => followedOf(session, one, until === 'gone' || isBeingDeleted(one) ? 'gone' : 'settled'));
  const show = output === undefined && until !== 'accepted' ? showFor(session, followed) : silentShow;
  const ends = until === 'accepted' ? [] : await watchPropagations(session, followed, show);
  if (output === 'json' || output === 'yaml') {
    const last = new Map(accepted.map(({ outcome }, index) => [outcome, ends[index]]));
    const answers = named.map(({ outcome }) => withState(outcome, last.get(outcome)));
    await session.terminal.out(printAnswers(answers, output));
  }
  const hasEnded = ends.map((end, index) => reportEnd(session, end, followed[index])).every(Boolean);
  return accepted.length === named.length && hasEnded ? exitCodes.good : exitCodes.failed;
}

/** Creates the display of the followed Propagations: a live table on a terminal, or a line per change elsewhere. */
export function showFor(session: Session, followed: readonly FollowedPropagation[]) {
  return createPropagationShow(
    session,
    followed.map(({ namespace, name }) => `${namespace}/${name}`),
  );
}

/**
 * Prints on standard error how a Propagation ended, and what keeps it from being settled.
 *
 * @returns False for a bad end, and for a deletion that the command did not wait for. True for a good end, and after an abort.
 */
export function reportEnd(
  { terminal, signal }: Session,
  end: PropagationEnd,
  { namespace, name, until }: Pick<FollowedPropagation, 'namespace' | 'name' | 'until'> = nowhere,
): boolean {
  terminal.settle();
  if (end === undefined) return signal.aborted;
  if (end.result === 'gone') {
    terminal.err(`${printable(`${namespace}/${name}`)}: ${until === 'gone' ? 'gone' : 'it was deleted'}\n`);
    return until === 'gone';
  }
  const { state, result } = end;
  terminal.err(`${printable(`${namespace}/${name}: ${propagationSummary(state)}`)}\n`);
  const isGood = result === 'good';
  for (const line of isGood ? failoverLines(state) : obstacleLines(state)) terminal.err(`  ${printable(line)}\n`);
  return isGood;
}

const nowhere = { namespace: '', name: '', until: 'settled' } as const;

async function reportOutcome(session: Session, one: NamedOutcome, { output, word }: OutcomeOptions): Promise<void> {
  const { terminal } = session;
  const { namespace, name, outcome } = one;
  const { result, propagation, plan, notes } = outcome;
  const isPlanShown = result === 'PLAN_STALE' && plan !== null && (output === undefined || output === 'name');
  // A printed plan already contains the notes.
  for (const note of isPlanShown ? [] : notes) terminal.err(`${noteLine(note)}\n`);
  const verb = propagation === null ? 'accepted' : word(propagation);
  const line = printable(`propagation.muster.dev/${name} ${result === 'UNCHANGED' ? 'unchanged' : verb}`);
  switch (result) {
    case 'ACCEPTED':
    case 'UNCHANGED':
      if (output === undefined) await terminal.out(`${line}\n`);
      else if (output === 'name') await terminal.out(`${printable(`propagation.muster.dev/${name}`)}\n`);
      break;
    case 'PLAN_STALE':
      if (isPlanShown) await printPlan(session, plan);
      terminal.err(
        `muster: ${printable(`${namespace}/${name}`)}: the plan with that digest is out of date, and nothing was written: check this plan\n`,
      );
      break;
    case 'NOT_FOUND':
      terminal.err(`muster: there is no Propagation ${printable(`${name} in the namespace ${namespace}`)} of the hub\n`);
      break;
    default:
      for (const refusal of plan === null ? [] : refusalLines(plan)) terminal.err(`${refusal}\n`);
      terminal.err(`muster: ${printable(`${namespace}/${name}: ${phaseText(result).toLowerCase()}`)}, and nothing was written\n`);
  }
  new ClusterFaultReport(session).print(outcome.faults);
}

/** True if the Propagation is being deleted, so the only possible end is `gone`. */
function isBeingDeleted({ outcome: { propagation } }: NamedOutcome): boolean {
  return propagation?.phase === 'DELETING';
}

function followedOf(
  session: Session,
  { namespace, name, outcome }: NamedOutcome,
  until: FollowedPropagation['until'],
): FollowedPropagation {
  const { result, propagation } = outcome;
  const followed = { ...followFromNow(session, { namespace, name }), generation: propagation?.generation ?? 0, until };
  if (result !== 'ACCEPTED') return followed;
  return {
    ...followed,
    patienceMs: propagation?.phase === 'PLANNING' ? newPlanPatience : session.ownsGateway ? ownControllerPatience : samePlanPatience,
  };
}

/** Returns the options to follow a Propagation from its current state until its rollout ends. */
export function followFromNow({ ownsGateway }: Session, key: PropagationKey): FollowedPropagation {
  return { ...key, generation: 0, patienceMs: ownsGateway ? ownControllerPatience : { good: 0, bad: 0 }, until: 'settled' };
}

function withState(outcome: PropagationOutcome, end: PropagationEnd): PropagationOutcome {
  return end === undefined || end.result === 'gone' ? outcome : { ...outcome, propagation: end.state };
}
