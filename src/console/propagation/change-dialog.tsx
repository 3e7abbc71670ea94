import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Alert } from '../parts/alert.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { type ChangeOutcome, changePropagation, type PropagationMutation } from './propagation-change.ts';

export interface ChangeDialogProps {
  /** The name of the action, which is also that of its button. */
  readonly action: string;
  readonly title: string;
  /** The clusters that the change is for. */
  readonly clusters: readonly string[];
  /** Undefined while the mutation is not known yet: then it cannot be sent. */
  readonly mutation: PropagationMutation | undefined;
  readonly isDangerous?: boolean;
  readonly onClose: () => void;
  /** Called with `done` after the change, or with `stale` and the new plan if nothing was written because the plan has changed. */
  readonly onEnd: (outcome: Exclude<ChangeOutcome, { result: 'refused' }>) => void;
  readonly children?: ComponentChildren;
}

/** Asks before a change. Nothing is sent before the button of the action. */
export function ChangeDialog({ action, title, clusters, mutation, isDangerous = false, onClose, onEnd, children }: ChangeDialogProps) {
  const [problem, setProblem] = useState<string | undefined>();
  const [isBusy, setIsBusy] = useState(false);
  const send = async () => {
    if (mutation === undefined) return;
    setIsBusy(true);
    const outcome = await changePropagation(mutation).catch((error: Error) => ({ result: 'refused', message: error.message }) as const);
    setIsBusy(false);
    if (outcome.result === 'refused') setProblem(outcome.message);
    else onEnd(outcome);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {mutation === undefined ? null : <p>{clusters.length === 0 ? 'No cluster is affected.' : `Clusters: ${clusters.join(', ')}`}</p>}
      {children}
      {problem === undefined ? null : <Alert>{problem}</Alert>}
      <div class="dialog-actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class={isDangerous ? 'danger' : 'primary'} disabled={isBusy || mutation === undefined} onClick={send}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
