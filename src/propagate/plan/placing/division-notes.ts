import type { Note } from '../../model/notes.ts';
import type { ReplicaShare } from '../../model/placement.ts';
import type { ReplicasSpec } from '../../model/spec.ts';

/** The result of a division, with its input. */
interface DivisionResult {
  readonly replicas: Pick<ReplicasSpec, 'mode' | 'strategy' | 'rules'>;
  readonly count: number;
  readonly shares: readonly ReplicaShare[];
  readonly unplaced: number;
}

/** Returns warnings about a division that may not be intended. Each code at most once, with the clusters concerned. */
export function divisionNotes(divided: DivisionResult): readonly Note[] {
  return divided.replicas.mode === 'Divided' ? dividedNotes(divided) : undividedNotes(divided);
}

function undividedNotes({ replicas: { mode, rules } }: DivisionResult): readonly Note[] {
  if (!rules.some(({ min, max }) => min > 0 || max !== undefined)) return [];
  return [warning('BOUNDS_IGNORED', `min and max have no effect with mode ${mode}: they bound divided replicas only`)];
}

function dividedNotes({ replicas: { strategy, rules }, count, shares, unplaced }: DivisionResult): readonly Note[] {
  const weighted = strategy === 'Weighted';
  const notes: Note[] = [];
  if (weighted && rules.length > 0 && shares.length > 0 && shares.every(({ weight }) => weight === undefined)) {
    notes.push(warning('NO_RULE_MATCHED', 'no rule matches a chosen cluster: all clusters have equal weights'));
  }
  const short = shares.filter(({ to, min = 0 }) => to < min);
  if (short.length > 0) {
    notes.push(
      warning('MIN_NOT_MET', `fewer replicas than the minimum of the rules: ${textOfShares(short, ({ to, min }) => `${to} of ${min}`)}`),
    );
  }
  const over = weighted ? shares.filter(({ to, from, capacity }) => capacity !== undefined && to > capacity + from) : [];
  if (over.length > 0) {
    const text = textOfShares(over, ({ to, from, capacity = 0 }) => `${to} where ${capacity + from} fit`);
    notes.push(
      warning('OVER_CAPACITY', `some clusters get more replicas by weight than are estimated to fit: ${text}`, 'replicas.strategy'),
    );
  }
  if (unplaced > 0) notes.push(warning('UNPLACED', `the chosen clusters have no room for ${unplaced} of ${count} replicas`, 'replicas'));
  return notes;
}

function textOfShares(shares: readonly ReplicaShare[], textOf: (share: ReplicaShare) => string): string {
  return shares.map((share) => `${share.cluster} ${textOf(share)}`).join(', ');
}

function warning(code: Note['code'], message: string, path = 'replicas.rules'): Note {
  return { severity: 'WARNING', code, message, path };
}
