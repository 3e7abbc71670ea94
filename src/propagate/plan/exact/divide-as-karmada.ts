import { compareText } from '../../../core/text.ts';
import type { ReplicaDivision } from '../../model/placement.ts';
import { fewestSeatsThenName, type TieBreak } from '../placing/apportion.ts';
import { type DivisionInput, divideReplicas } from '../placing/divide-replicas.ts';
import { sumBy } from '../placing/sum-by.ts';

interface KarmadaDivisionInput extends Omit<DivisionInput, 'rulesChanged' | 'tieBreak'> {
  /** `metadata.uid` of the workload in Karmada. It decides ties between clusters. Default: an empty text, and ties go by name. */
  readonly uid?: string | undefined;
  /** True if nothing requires a new division. Then every cluster keeps its previous number. */
  readonly keepsDivision?: boolean;
  /** True if the affinity group in use has overflows. */
  readonly overflows?: boolean;
}

/**
 * Divides replicas as Karmada's scheduler does (docs/internals/propagation.md 3.4):
 *
 * - Replicas with fixed weights are divided anew each time. A rule with weight 0 counts as no rule.
 * - Changed rules alone do not divide other replicas anew.
 * - The uid decides ties between clusters.
 * - If not all replicas fit, none are placed. The division then has a `problem`.
 */
export function divideAsKarmada({ uid = '', keepsDivision = false, overflows = false, ...input }: KarmadaDivisionInput): ReplicaDivision {
  const { replicas, chosen, count, fresh } = input;
  const hasFixedWeights = replicas.mode === 'Divided' && replicas.strategy === 'Weighted';
  const rules = hasFixedWeights ? replicas.rules.filter(({ weight }) => weight > 0) : replicas.rules;
  const rebalance = !keepsDivision && (hasFixedWeights || replicas.rebalance);
  const division = divideReplicas({
    ...input,
    replicas: { ...replicas, rules, rebalance },
    rulesChanged: false,
    tieBreak: tieBreakOf(uid),
  });
  // A cluster whose location is unknown keeps its number for now, so it is no error if replicas of other clusters do not fit.
  if (division.unplaced === 0 || chosen.some(({ isUndecided }) => isUndecided)) return division;
  // The message of Karmada has the room for the replicas that it would add. With overflows, the message has no number.
  const kept = fresh || rebalance ? 0 : sumBy(chosen, ({ previous }) => previous);
  const room = overflows ? '' : ` ${count - division.unplaced - kept}`;
  const problem = `Clusters available replicas${room} are not enough to schedule.`;
  const shares = division.shares.map(({ completions: _completions, ...share }) => ({ ...share, to: 0, kept: 0 }));
  return { shares, unplaced: count, notes: [], problem };
}

/**
 * Returns a function that orders two clusters that are tied for a replica: fewer replicas first, then by name. For a UID with an odd hash,
 * the order of names is reversed.
 */
export function tieBreakOf(uid: string): TieBreak {
  return hasOddHash(uid) ? fewestSeatsThenLastName : fewestSeatsThenName;
}

/** Prefers the party with fewer seats, then the name that is last in order of code units. */
export const fewestSeatsThenLastName: TieBreak = (a, b) => a.seats - b.seats || compareText(b.name, a.name);

/** True if the 32-bit FNV-1a hash of the UTF-8 text is odd. An empty UID counts as even. */
export function hasOddHash(uid: string): boolean {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(uid)) hash = Math.imul(hash ^ byte, 0x01000193);
  return uid !== '' && (hash & 1) === 1;
}
