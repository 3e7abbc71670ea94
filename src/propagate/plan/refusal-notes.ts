import { describeFault } from '../../changes/describe-fault.ts';
import { objectTextOf } from '../../core/indexed-path.ts';
import type { ClusterName } from '../../core/names.ts';
import { keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import type { Note } from '../model/notes.ts';
import type { CopyReason } from '../model/propagation.ts';
import { copyReasonOf } from './copies/copy-reason.ts';
import type { DryRun } from './dry-run.ts';
import type { DryRuns } from './show-plan.ts';
import type { PlanSnapshot } from './snapshot/snapshot.ts';

/**
 * Returns a note for each object of the template that API servers refuse. The note is an error if all answering servers refuse the object, or if
 * `rollout.onFailure` is `Rollback`. In other cases, the note is a warning.
 */
export function refusalNotes({ spec, templates }: Pick<PlanSnapshot, 'spec' | 'templates'>, answers: DryRuns): readonly Note[] {
  return templates.flatMap(({ manifest, path }): readonly Note[] => {
    const key = keyOfManifest(manifest);
    const { answering, refused } = countRefusals(textOfKey(key), answers);
    const [first] = refused;
    if (first === undefined) return [];
    const what = `${objectTextOf(key)}: ${first.message}`;
    if (refused.length === answering)
      return [{ severity: 'ERROR', code: 'REFUSED_EVERYWHERE', message: `every cluster refuses ${what}`, path }];
    const severity = spec.rollout.onFailure === 'Rollback' ? 'ERROR' : 'WARNING';
    const names = refused.map(({ cluster }) => cluster).join(', ');
    return [{ severity, code: 'REFUSED_SOMEWHERE', message: `${refused.length} of ${answering} clusters (${names}) refuse ${what}`, path }];
  });
}

interface RefusalCount {
  /** The number of clusters that answered. */
  readonly answering: number;
  readonly refused: readonly { readonly cluster: string; readonly message: string }[];
}

function countRefusals(text: string, answers: DryRuns): RefusalCount {
  const answered = [...answers].flatMap(([cluster, of]) => {
    const answer = of.get(text);
    return answer === undefined || isUnanswered(answer) ? [] : [{ cluster, answer }];
  });
  const refused = answered.flatMap(({ cluster, answer }) => {
    const message = refusalIn(answer);
    return message === undefined ? [] : [{ cluster, message }];
  });
  return { answering: answered.length, refused };
}

/**
 * The reasons that count as a refusal: the API server answered that it does not accept the object. A conflict with other field managers
 * does not count. A missing namespace or kind does count. It cannot be one that the plan itself creates, because objects in it get no dry
 * run.
 */
const refusals: ReadonlySet<CopyReason> = new Set([
  'Invalid',
  'Immutable',
  'Denied',
  'Quota',
  'ApiMissing',
  'NamespaceMissing',
  'Terminating',
]);

function refusalIn(answer: DryRun): string | undefined {
  if (answer.result === 'unserved') return 'the kind is not served';
  return answer.result === 'failed' && refusals.has(copyReasonOf(answer.fault)) ? describeFault(answer.fault) : undefined;
}

function isUnanswered(answer: DryRun): boolean {
  return answer.result === 'failed' && copyReasonOf(answer.fault) === 'Unreachable';
}

/** Returns the note for an obstacle that keeps a cluster from carrying out the plan. */
export function preflightNote(cluster: ClusterName, message: string): Note {
  return { severity: 'ERROR', code: 'PREFLIGHT_FAILED', message: `cluster ${cluster}: ${message}` };
}
