import { type IntentNote, noteFields, noteText } from '../../core/columns/plan-texts.ts';
import { request } from '../gateway/graphql.ts';
import { type ShownPlan, shownPlanFields } from './plan-query.ts';

/** The end of a mutation of a Propagation. */
export type ChangeOutcome =
  | { readonly result: 'done' }
  /** The plan has changed. Nothing was written. */
  | { readonly result: 'stale'; readonly plan: ShownPlan }
  | { readonly result: 'refused'; readonly message: string };

interface Outcome {
  readonly result: string;
  readonly plan: ShownPlan | null;
  readonly notes: readonly IntentNote[];
}

/** One mutation of a Propagation, by the name of its field. */
export interface PropagationMutation {
  readonly field: 'propagate' | 'rollbackPropagation' | 'pausePropagation' | 'resumePropagation' | 'deletePropagation';
  /** The values of its arguments, with their GraphQL types. */
  readonly inputs: Readonly<Record<string, { readonly type: string; readonly value: unknown }>>;
}

/** Sends a mutation. @throws {RequestFailure} if the gateway refuses the request itself. */
export async function changePropagation({ field, inputs }: PropagationMutation): Promise<ChangeOutcome> {
  const names = Object.entries(inputs);
  const declared = names.map(([name, { type }]) => `$${name}: ${type}`).join(', ');
  const passed = names.map(([name]) => `${name}: $${name}`).join(', ');
  const query = `mutation (${declared}) { ${field}(${passed}) { result plan { ${shownPlanFields} } notes { ${noteFields} } } }`;
  const variables = Object.fromEntries(names.map(([name, { value }]) => [name, value]));
  const outcome = (await request<Readonly<Record<string, Outcome>>>(query, variables))[field];
  return outcomeOf(outcome);
}

function outcomeOf(outcome: Outcome | undefined): ChangeOutcome {
  switch (outcome?.result) {
    case 'ACCEPTED':
    case 'UNCHANGED':
      return { result: 'done' };
    case 'PLAN_STALE':
      return outcome.plan === null ? { result: 'refused', message: 'the plan has changed' } : { result: 'stale', plan: outcome.plan };
    case 'NOT_FOUND':
      return { result: 'refused', message: 'the Propagation does not exist any more' };
    default:
      return { result: 'refused', message: outcome?.notes.map(noteText).join('\n') || 'the gateway refused, without a reason' };
  }
}
