import { useEffect, useState } from 'preact/hooks';
import type { Json } from '../../core/json.ts';
import { navigate } from '../browser/location.ts';
import { propagationPath } from '../browser/paths.ts';
import { Alert } from '../parts/alert.tsx';
import { Heading } from '../parts/heading.tsx';
import { ChangeDialog } from '../propagation/change-dialog.tsx';
import { changedClusters, planIntent, type ShownPlan } from '../propagation/plan-query.ts';
import { PlanView } from '../propagation/plan-view.tsx';
import type { IntentRead } from '../propagation/read-intent.ts';
import { useWriteAccess } from '../propagation/write-access.ts';

/** A plan with the intent that it is for. */
interface PlannedIntent {
  readonly namespace: string;
  readonly name: string;
  readonly input: Json;
  readonly plan: ShownPlan;
  /** True if the gateway refused to carry out an older plan, and sent this one instead. */
  readonly isRenewed: boolean;
}

type PlanState =
  | { readonly phase: 'idle' | 'planning' }
  | { readonly phase: 'refused'; readonly message: string }
  | ({ readonly phase: 'planned' } & PlannedIntent);

const example = `apiVersion: muster.dev/v1alpha1
kind: Propagation
metadata: { namespace: shop, name: web }
spec:
  template:
    - json: { apiVersion: v1, kind: ConfigMap, metadata: { namespace: shop, name: web }, data: { color: blue } }
  placement: { clusters: [north, south] }`;

/** Plans an intent, shows the plan, and propagates exactly that plan. */
export function NewPropagationPage() {
  const [text, setText] = useState('');
  const [state, setState] = useState<PlanState>({ phase: 'idle' });
  // A plan then needs no further file, and works after the gateway was away.
  useEffect(() => void loadParser().catch(() => undefined), []);
  const plan = async () => {
    setState({ phase: 'planning' });
    setState(await planned(text).catch((error: Error) => ({ phase: 'refused', message: error.message }) as const));
  };
  return (
    <>
      <Heading title="New propagation" kicker={<a href="/propagations">All propagations</a>} />
      <form
        class="intent"
        onSubmit={(event) => {
          event.preventDefault();
          void plan();
        }}
      >
        <label>
          <span>Intent</span>
          <textarea
            rows={14}
            spellcheck={false}
            autocapitalize="off"
            placeholder={example}
            value={text}
            onInput={({ currentTarget }) => {
              setText(currentTarget.value);
              // A plan of another text must not be propagated.
              setState({ phase: 'idle' });
            }}
          />
        </label>
        <div class="page-actions">
          <button type="submit" class={state.phase === 'planned' ? '' : 'primary'} disabled={state.phase === 'planning'}>
            Plan
          </button>
          {state.phase === 'planned' ? <PropagateButton planned={state} onStale={setState} /> : null}
        </div>
      </form>
      <p role="status" class="status-line">
        {statusOf(state)}
      </p>
      {state.phase === 'refused' ? <Alert>{state.message}</Alert> : null}
      {state.phase === 'planned' ? <PlanView plan={state.plan} /> : null}
    </>
  );
}

function statusOf(state: PlanState): string {
  switch (state.phase) {
    case 'planning':
      return 'Planning: each cluster tries its copies without writing them';
    case 'planned':
      return state.isRenewed
        ? 'The clusters have changed since the plan. This is the new plan; nothing was written.'
        : 'Planned. Nothing was written.';
    case 'idle':
      return 'Paste a Propagation in YAML or JSON. A plan writes nothing.';
    case 'refused':
      return '';
    default:
      return state satisfies never;
  }
}

function PropagateButton({ planned, onStale }: { readonly planned: PlannedIntent; readonly onStale: (state: PlanState) => void }) {
  const { namespace, name, input, plan } = planned;
  const access = useWriteAccess(namespace);
  const [isAsking, setIsAsking] = useState(false);
  if (!access.propagate) return access.problem === undefined ? null : <p class="remark">{access.problem}</p>;
  if (!plan.ok) return <p class="remark">The plan has an error, so it cannot be propagated.</p>;
  const inputs = { input: { type: 'PropagationInput!', value: input }, digest: { type: 'String', value: plan.digest } };
  return (
    <>
      <button type="button" class="primary" onClick={() => setIsAsking(true)}>
        Propagate
      </button>
      {isAsking ? (
        <ChangeDialog
          action="Propagate"
          title={`Propagate ${namespace}/${name}?`}
          clusters={changedClusters(plan)}
          mutation={{ field: 'propagate', inputs }}
          onClose={() => setIsAsking(false)}
          onEnd={(outcome) => {
            setIsAsking(false);
            if (outcome.result === 'stale') onStale({ phase: 'planned', ...planned, plan: outcome.plan, isRenewed: true });
            else navigate(propagationPath({ namespace, name }));
          }}
        >
          <p>Exactly the plan of this page is carried out, or nothing if the clusters have changed since.</p>
        </ChangeDialog>
      ) : null}
    </>
  );
}

/** Loads the parser of intents. It is large, and only this page needs it. */
function loadParser(): Promise<{ readIntent: (text: string) => IntentRead }> {
  return import('../propagation/read-intent.ts').catch(() => {
    throw new Error('the gateway does not answer; press Plan again, or load the page again');
  });
}

async function planned(text: string): Promise<PlanState> {
  const { readIntent } = await loadParser();
  const read = readIntent(text);
  if (read.result === 'refused') return { phase: 'refused', message: read.message };
  const { namespace, name, input } = read;
  return { phase: 'planned', namespace, name, input, plan: await planIntent(input), isRenewed: false };
}
