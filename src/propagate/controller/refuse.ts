import type { Propagation } from '../model/propagation.ts';
import type { SpecProblem } from '../model/spec.ts';
import { summarize } from '../status/summarize.ts';
import { assessUnplanned } from './clusters/cluster-assessment.ts';
import { retryHubLater } from './retry-hub-later.ts';
import type { Pass, PassResult } from './state/ports.ts';
import { discardPlan } from './state/propagation-state.ts';
import { writeStatus } from './write-status.ts';

/** A generation of which nothing is done: why it was not accepted; `suspended`: somebody asked that it not be planned. */
export type Refusal = { readonly message: string } | 'suspended';

/** Says so in the status, and stops what an older generation had begun. What stands in the clusters stays. */
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

/** Who reads a status may not be who may read the spec: what was expected where, and never what came. */
export function describeProblems(problems: readonly SpecProblem[]): string {
  return problems.map(({ path, message }) => `${path}: ${withoutValue(message)}`).join('; ');
}

function withoutValue(message: string): string {
  return message.split(', got ', 1).join();
}
