import { useState } from 'preact/hooks';
import { ChangeDialog } from './change-dialog.tsx';
import type { PropagationMutation } from './propagation-change.ts';
import { holdsDeletions, type WholePropagation } from './propagation-state.ts';
import type { WriteAccess } from './write-access.ts';

interface ActionChoice {
  readonly action: 'Pause' | 'Resume' | 'Delete';
  readonly field: PropagationMutation['field'];
  readonly text: string;
}

const pause: ActionChoice = {
  action: 'Pause',
  field: 'pausePropagation',
  text: 'No further cluster is changed until the Propagation is resumed.',
};
const resume: ActionChoice = {
  action: 'Resume',
  field: 'resumePropagation',
  text: 'The rollout continues with the clusters that are not done.',
};
const remove: ActionChoice = {
  action: 'Delete',
  field: 'deletePropagation',
  text: 'The copies are deleted, as the intent says, and then the Propagation.',
};

/** The buttons that change a Propagation. Each asks first. A button that the user may not press is absent. */
export function PropagationActions({ state, access }: { readonly state: WholePropagation; readonly access: WriteAccess }) {
  const [asked, setAsked] = useState<ActionChoice | undefined>();
  const [confirmPrune, setConfirmPrune] = useState(false);
  const { namespace, name, paused, phase, clusters } = state;
  const isHeld = paused || phase === 'PAUSED' || phase === 'HELD';
  const shown = [...(access.change ? [isHeld ? resume : pause] : []), ...(access.delete ? [remove] : [])];
  const close = () => setAsked(undefined);
  const inputs = {
    namespace: { type: 'String!', value: namespace },
    name: { type: 'String!', value: name },
    ...(asked === resume && confirmPrune ? { confirmPrune: { type: 'Boolean', value: true } } : {}),
  };
  return (
    <>
      {shown.map((one) => (
        <button key={one.action} type="button" class={one === remove ? 'danger' : ''} onClick={() => setAsked(one)}>
          {one.action}
        </button>
      ))}
      {asked === undefined ? null : (
        <ChangeDialog
          action={asked.action}
          title={`${asked.action} ${namespace}/${name}?`}
          clusters={clusters.map(({ cluster }) => cluster.name)}
          mutation={{ field: asked.field, inputs }}
          isDangerous={asked === remove}
          onClose={close}
          onEnd={close}
        >
          <p>{asked.text}</p>
          {asked === resume && holdsDeletions(state) ? (
            <label class="check">
              <input type="checkbox" checked={confirmPrune} onChange={({ currentTarget }) => setConfirmPrune(currentTarget.checked)} />
              <span>Confirm the deletions that wait</span>
            </label>
          ) : null}
        </ChangeDialog>
      )}
    </>
  );
}
