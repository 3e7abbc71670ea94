import type { Propagation } from '../model/propagation.ts';
import { type EndingParts, type PropagationSpec, parseEnding, parseSpec } from '../model/spec.ts';
import type { ClusterJob } from './clusters/cluster-job.ts';
import { describeProblems } from './refuse.ts';
import type { Pass } from './state/ports.ts';

/** How the copies of a Propagation go, and with whose rights; or why nobody can tell. Then nothing goes. */
export type DeletionRules =
  | { readonly result: 'known'; readonly spec: ClusterJob['spec'] }
  | { readonly result: 'held'; readonly message: string };

/**
 * Where what stands there is no spec, it counts all the same in what it says of its end; what it does not say of that is as in the newest revision. What it
 * says and what cannot be read holds all: who wrote it may have wanted the copies kept. Undefined if the hub does not answer.
 */
export async function deletionRulesOf({ ports, term }: Pass, propagation: Propagation): Promise<DeletionRules | undefined> {
  if (!('problems' in propagation.spec)) return { result: 'known', spec: propagation.spec };
  const said = parseEnding(propagation.document);
  if ('problems' in said) return held(describeProblems(said.problems));
  if (said.deletion !== undefined && said.runAs !== undefined) return known(said, undefined);
  const kept = await ports.stores.revisions.list(propagation, term.signal);
  if ('fault' in kept) return undefined;
  const spec = kept[0] === undefined ? undefined : parseSpec(kept[0].document);
  const last = spec === undefined || 'problems' in spec ? undefined : spec;
  return known(said, last);
}

function known(said: Partial<EndingParts>, last: PropagationSpec | undefined): DeletionRules {
  const deletion = said.deletion ?? last?.deletion;
  if (deletion === undefined) return held('deletion: is not said, and no revision is kept that says it');
  const { runAs = last?.runAs ?? ({ type: 'requester' } as const), requester } = said;
  // Neither plays a part where copies go.
  const spec = { conflict: 'Abort', write: 'Apply', deletion, runAs } as const;
  return { result: 'known', spec: { ...spec, ...(requester === undefined ? {} : { requester }) } };
}

function held(why: string): DeletionRules {
  return { result: 'held', message: `nothing is taken away, as the spec does not say how: ${why}` };
}
