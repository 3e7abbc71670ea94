import type { JsonObject } from '../core/json.ts';
import { listAt, textAt } from '../core/json-at.ts';
import type { ClusterCandidate } from '../fleet/cluster-source.ts';
import type { CandidateRole } from '../fleet/roster.ts';
import type { ClusterStatus } from '../watch/mirrors.ts';

/** The values from which the status of a registered cluster is made. */
export interface RegistrationFacts {
  /** The generation of the spec from which the candidate was made. */
  readonly generation: number;
  readonly candidate: ClusterCandidate;
  readonly role: CandidateRole;
  /** The state of the member. Undefined: there is no member of this name. */
  readonly member: ClusterStatus | undefined;
  /** The status that the hub has now. */
  readonly before: JsonObject;
  /** The current time in RFC 3339. */
  readonly now: string;
}

const phases = { CONNECTING: 'Connecting', SYNCED: 'Synced', DEGRADED: 'Degraded', UNREACHABLE: 'Unreachable' } as const;

/** Returns the status of a registered cluster. `lastTransitionTime` changes only when the condition `Accepted` becomes true or false. */
export function registrationStatus({ generation, candidate, role, member, before, now }: RegistrationFacts): JsonObject {
  const judged = judge(candidate, role);
  const [condition] = listAt(before, 'conditions');
  const isSame = textAt(condition, 'status') === judged.status;
  const own = role.role === 'member' ? member : undefined;
  return {
    ...(own === undefined ? {} : { phase: phases[own.phase] }),
    ...(own?.version === undefined ? {} : { version: own.version }),
    ...(own?.uid === undefined ? {} : { uid: own.uid }),
    observedGeneration: generation,
    conditions: [
      {
        type: 'Accepted',
        ...judged,
        lastTransitionTime: (isSame ? textAt(condition, 'lastTransitionTime') : undefined) ?? now,
        observedGeneration: generation,
      },
    ],
  };
}

function judge(
  candidate: ClusterCandidate,
  role: CandidateRole,
): { readonly status: string; readonly reason: string; readonly message: string } {
  if (role.role === 'nameTaken') return refused('NameTaken', 'another source of clusters has a cluster of this name');
  if (role.role === 'duplicate') return refused('Duplicate', `${role.same} is the same cluster: it is read once, under that name`);
  const problem = candidate.result === 'broken' ? candidate.problem : candidate.problems?.[0];
  if (problem === undefined) return { status: 'True', reason: 'Accepted', message: 'the cluster is a member of the fleet' };
  return refused(problem.code === 'NOT_FOUND' ? 'SecretMissing' : 'Invalid', problem.message);
}

function refused(reason: string, message: string) {
  return { status: 'False', reason, message };
}
