import { useEffect, useState } from 'preact/hooks';
import { isJsonObject, type Json } from '../../core/json.ts';
import { Alert } from '../parts/alert.tsx';
import { planIntent, type ShownPlan, silentInPlan } from './plan-query.ts';
import { PlanView } from './plan-view.tsx';

/** Milliseconds between two plans. Each plan tries every copy in its cluster. */
const everyMs = 10_000;

/** Shows where copies differ from the intent. It plans the intent as if it were not suspended, and writes nothing. */
export function DriftTab({ spec }: { readonly spec: Json }) {
  const [state, setState] = useState<{ readonly plan?: ShownPlan; readonly problem?: string }>({});
  const key = JSON.stringify(spec);
  useEffect(() => {
    const ending = new AbortController();
    let timer: number | undefined;
    const plan = async () => {
      const next = await planIntent(active(spec), ending.signal).then(
        (found) => ({ plan: found }),
        (error: Error) => ({ problem: error.message }),
      );
      if (ending.signal.aborted) return;
      setState((before) => ({ ...before, problem: undefined, ...next }) as typeof before);
      timer = window.setTimeout(plan, everyMs);
    };
    void plan();
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [key]);
  if (state.problem !== undefined) return <Alert>{state.problem}</Alert>;
  if (state.plan === undefined) return <p class="status-line">Comparing the copies with the intent</p>;
  return <PlanView plan={state.plan} unchanged={unchangedText(state.plan)} />;
}

/** Says that no copy differs only of the clusters that answer. */
function unchangedText(plan: ShownPlan): string {
  return silentInPlan(plan).length === 0
    ? 'No copy differs from the intent.'
    : 'In the clusters that answer, no copy differs from the intent.';
}

/** Returns the intent without its suspension, which would hide all differences. */
function active(spec: Json): Json {
  if (!isJsonObject(spec)) return spec;
  const { suspend: _, ...rest } = spec;
  return rest;
}
