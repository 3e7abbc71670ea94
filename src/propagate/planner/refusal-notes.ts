import type { ClusterName } from '../../core/names.ts';
import { describeFault, reasonOf } from '../copies/copy-reason.ts';
import type { Note } from '../notes.ts';
import { keyOfManifest, textOfKey } from '../object-key.ts';
import type { ObjectKey } from '../spec.ts';
import type { DryRun } from './dry-run.ts';
import type { DryRuns } from './show-plan.ts';
import type { Snapshot } from './snapshot.ts';

/** What the API servers refuse of the input: what all of them refuse is an error; what some refuse a warning, or an error if a breach is rolled back. */
export function refusalNotes({ spec, templates }: Pick<Snapshot, 'spec' | 'templates'>, answers: DryRuns): readonly Note[] {
  return templates.flatMap(({ manifest, path }): readonly Note[] => {
    const key = keyOfManifest(manifest);
    const { asked, refused } = wordsOn(textOfKey(key), answers);
    const [first] = refused;
    if (first === undefined) return [];
    const what = `${nameOf(key)}: ${first.message}`;
    if (refused.length === asked)
      return [{ severity: 'ERROR', code: 'REFUSED_EVERYWHERE', message: `every cluster refuses ${what}`, path }];
    const severity = spec.rollout.onFailure === 'Rollback' ? 'ERROR' : 'WARNING';
    const names = refused.map(({ cluster }) => cluster).join(', ');
    return [{ severity, code: 'REFUSED_SOMEWHERE', message: `${refused.length} of ${asked} clusters (${names}) refuse ${what}`, path }];
  });
}

interface Words {
  /** Clusters that answered. */
  readonly asked: number;
  readonly refused: readonly { readonly cluster: string; readonly message: string }[];
}

function wordsOn(text: string, answers: DryRuns): Words {
  const told = [...answers].flatMap(([cluster, of]) => {
    const answer = of.get(text);
    return answer === undefined || isSilent(answer) ? [] : [{ cluster, answer }];
  });
  const refused = told.flatMap(({ cluster, answer }) =>
    answer.result === 'failed' && isRefusal(answer) ? [{ cluster, message: describeFault(answer.fault) }] : [],
  );
  return { asked: told.length, refused };
}

/** A mistake in the object, or a right that is missing: not what passes by itself. */
function isRefusal({ fault }: Extract<DryRun, { readonly result: 'failed' }>): boolean {
  const reason = reasonOf(fault);
  return reason === 'Invalid' || reason === 'Immutable' || reason === 'Denied';
}

function isSilent(answer: DryRun): boolean {
  return answer.result === 'failed' && reasonOf(answer.fault) === 'Unreachable';
}

/** `Deployment default/web`. */
export function nameOf({ kind, namespace, name }: ObjectKey): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** Of what keeps a cluster from doing all that it is to do. */
export function preflightNote(cluster: ClusterName, message: string): Note {
  return { severity: 'ERROR', code: 'PREFLIGHT_FAILED', message: `cluster ${cluster}: ${message}` };
}
