import type { Propagation } from '../model/propagation.ts';
import type { SpecProblem } from '../model/spec.ts';
import { summarize } from '../status/summarize.ts';
import { assessUnplanned } from './clusters/cluster-assessment.ts';
import { retryHubLater } from './retry-hub-later.ts';
import type { Pass, PassResult } from './state/ports.ts';
import { discardPlan } from './state/propagation-state.ts';
import { writeStatus } from './write-status.ts';

/** Why a generation is not carried out: the error message, or `suspended` if `spec.suspend` forbids to plan it. */
export type Refusal = { readonly message: string } | 'suspended';

/** Writes the refusal to the status, and stops the work of the previous plan. Existing copies stay. */
export async function refuse(pass: Pass, propagation: Propagation, refusal: Refusal): Promise<PassResult> {
  const { state, ports } = pass;
  if (state.plan !== undefined) discardPlan(state);
  const { spec, status: previous, metadata } = propagation;
  const status = summarize({
    generation: metadata.generation,
    spec: 'problems' in spec ? undefined : spec,
    previous,
    ...(refusal === 'suspended' ? {} : { refused: { stage: 'Accepted', message: refusal.message } }),
    clusters: assessUnplanned({ state, propagation, members: ports.hub.members }).map(({ facts }) => facts),
    isDeleting: false,
    isPaused: false,
    nowMs: ports.clock.now(),
  });
  const written = await writeStatus(pass, { propagation, status, urgency: 'urgent' });
  return { result: 'passed', ...(written.result === 'saved' ? {} : retryHubLater(pass)) };
}

/** Describes problems without the wrong values, because readers of the status may not be allowed to read the spec. */
export function describeProblems(problems: readonly SpecProblem[]): string {
  return problems.map(({ path, message }) => `${path}: ${withoutValue(message)}`).join('; ');
}

function withoutValue(message: string): string {
  return message.split(', got ', 1).join();
}
