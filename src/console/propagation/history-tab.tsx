import { useEffect, useState } from 'preact/hooks';
import { ageText } from '../../core/columns/kubectl-text.ts';
import type { Json } from '../../core/json.ts';
import { now } from '../browser/now.ts';
import { usePolled } from '../gateway/use-polled.ts';
import { Alert } from '../parts/alert.tsx';
import { ChangeDialog } from './change-dialog.tsx';
import { changedClusters, planIntent, type ShownPlan } from './plan-query.ts';
import { PlanView } from './plan-view.tsx';
import type { WholePropagation } from './propagation-state.ts';

interface Revision {
  readonly revision: number;
  readonly createdAt: string;
  readonly requester: string | null;
  readonly digest: string;
  readonly spec: Json;
}

interface RevisionsAnswer {
  readonly propagation: { readonly revisions: readonly Revision[] } | null;
}

const revisionsQuery = `query ($namespace: String!, $name: String!) {
  propagation(namespace: $namespace, name: $name) { revisions(first: 10) { revision createdAt requester digest spec } }
}`;

/** Shows the revisions of a Propagation, the newest first, and rolls back to one of them. */
export function HistoryTab({ state, mayChange }: { readonly state: WholePropagation; readonly mayChange: boolean }) {
  const { namespace, name, revision: current } = state;
  const { data, failure } = usePolled<RevisionsAnswer>({
    query: revisionsQuery,
    variables: { namespace, name },
    everyMs: 5_000,
    version: current,
  });
  const [chosen, setChosen] = useState<Revision | undefined>();
  const revisions = data?.propagation?.revisions.toSorted((a, b) => b.revision - a.revision) ?? [];
  if (failure !== undefined) return <Alert>{failure.message}</Alert>;
  return (
    <>
      <ol class="revisions" reversed>
        {revisions.map((one) => (
          <li key={one.revision}>
            <div>
              <strong>{`Revision ${one.revision}`}</strong>
              {one.revision === current ? <span class="kind-tag">current</span> : null}
              <p class="dim">
                {`${ageText(one.createdAt, now.value)} ago${one.requester === null ? '' : ` by ${one.requester}`}, digest ${one.digest.slice(0, 12)}`}
              </p>
            </div>
            {mayChange && one.revision !== current ? (
              <button type="button" onClick={() => setChosen(one)}>
                Roll back
              </button>
            ) : null}
          </li>
        ))}
      </ol>
      {chosen === undefined ? null : <RollbackDialog state={state} revision={chosen} onClose={() => setChosen(undefined)} />}
    </>
  );
}

interface RollbackDialogProps {
  readonly state: WholePropagation;
  readonly revision: Revision;
  readonly onClose: () => void;
}

/** Shows the plan of a revision, and rolls back to it when the user agrees. */
function RollbackDialog({ state: { namespace, name }, revision: { revision, spec }, onClose }: RollbackDialogProps) {
  const [found, setFound] = useState<{ readonly plan?: ShownPlan; readonly problem?: string }>({});
  useEffect(() => {
    const ending = new AbortController();
    planIntent(spec, ending.signal).then(
      (plan) => setFound({ plan }),
      (error: Error) => ending.signal.aborted || setFound({ problem: error.message }),
    );
    return () => ending.abort();
  }, [revision]);
  const inputs = {
    namespace: { type: 'String!', value: namespace },
    name: { type: 'String!', value: name },
    revision: { type: 'Int', value: revision },
  };
  return (
    <ChangeDialog
      action="Roll back"
      title={`Roll back ${namespace}/${name} to revision ${revision}?`}
      clusters={found.plan === undefined ? [] : changedClusters(found.plan)}
      mutation={found.plan === undefined ? undefined : { field: 'rollbackPropagation', inputs }}
      onClose={onClose}
      onEnd={onClose}
    >
      {found.problem === undefined ? null : <Alert>{found.problem}</Alert>}
      {found.plan === undefined && found.problem === undefined ? <p class="status-line">Planning</p> : null}
      {found.plan === undefined ? null : <PlanView plan={found.plan} />}
    </ChangeDialog>
  );
}
