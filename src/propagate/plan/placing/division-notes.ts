import type { Note } from '../../model/notes.ts';
import type { ReplicaShare } from '../../model/placement.ts';
import type { ReplicasSpec } from '../../model/spec.ts';

/** A division that is made, and what it was made from. */
interface DivisionResult {
  readonly replicas: Pick<ReplicasSpec, 'mode' | 'strategy' | 'rules'>;
  readonly count: number;
  readonly shares: readonly ReplicaShare[];
  readonly unplaced: number;
}

/** What about a division somebody may not have meant: all warnings, each at most once, with the clusters concerned. */
export function divisionNotes(divided: DivisionResult): readonly Note[] {
  return divided.replicas.mode === 'Divided' ? dividedNotes(divided) : undividedNotes(divided);
}

function undividedNotes({ replicas: { mode, rules } }: DivisionResult): readonly Note[] {
  if (!rules.some(({ min, max }) => min > 0 || max !== undefined)) return [];
  return [warning('BOUNDS_IGNORED', `min and max bound replicas that are divided; with mode ${mode} they have no effect`)];
}

function dividedNotes({ replicas: { strategy, rules }, count, shares, unplaced }: DivisionResult): readonly Note[] {
  const weighted = strategy === 'Weighted';
  const notes: Note[] = [];
  if (weighted && rules.length > 0 && shares.length > 0 && shares.every(({ weight }) => weight === undefined)) {
    notes.push(warning('NO_RULE_MATCHED', 'no rule matches a chosen cluster: all weigh the same'));
  }
  const short = shares.filter(({ to, min = 0 }) => to < min);
  if (short.length > 0) {
    notes.push(warning('MIN_NOT_MET', `fewer replicas than the rules ask for: ${listed(short, ({ to, min }) => `${to} of ${min}`)}`));
  }
  const over = weighted ? shares.filter(({ to, from, capacity }) => capacity !== undefined && to > capacity + from) : [];
  if (over.length > 0) {
    const text = listed(over, ({ to, from, capacity = 0 }) => `${to} where ${capacity + from} fit`);
    notes.push(warning('OVER_CAPACITY', `by weight clusters get more than seems to fit: ${text}`, 'replicas.strategy'));
  }
  if (unplaced > 0) notes.push(warning('UNPLACED', `${unplaced} of ${count} replicas find no room in the chosen clusters`, 'replicas'));
  return notes;
}

function listed(shares: readonly ReplicaShare[], said: (share: ReplicaShare) => string): string {
  return shares.map((share) => `${share.cluster} ${said(share)}`).join(', ');
}

function warning(code: Note['code'], message: string, path = 'replicas.rules'): Note {
  return { severity: 'WARNING', code, message, path };
}
