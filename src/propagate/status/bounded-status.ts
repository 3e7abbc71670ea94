import { isJsonObject, type Json } from '../../core/json.ts';
import type { AggregatedStatus, ClusterLine } from '../model/propagation.ts';
import { type PropagationStatus, printStatus } from '../model/status-definition.ts';
import { previousIfSame } from './cluster-line.ts';

/**
 * Maximum size of a status as JSON. The status of 500 clusters with names of 253 characters fits. Status and spec together are one object,
 * and etcd accepts 1.5 MiB.
 */
export const maxStatusBytes = 640 * 1024;

/** Maximum number of notes. One more note then says how many were left out. */
export const maxNotes = 100;

/**
 * The steps of shortening. The first step whose result fits is used. `maxCharacters` limits messages. `aggregates` decides how much of each
 * aggregate stays:
 *
 * - `whole`: everything, with shortened conditions.
 * - `figures`: no conditions.
 * - `health`: no conditions and no `status`, so no figures.
 *
 * The line of each cluster keeps its figures, phase and rollout marks in every step, because decisions depend on them.
 */
const measures: readonly { readonly maxCharacters: number; readonly aggregates: 'whole' | 'figures' | 'health' }[] = [
  { maxCharacters: 1_024, aggregates: 'whole' },
  { maxCharacters: 256, aggregates: 'whole' },
  { maxCharacters: 128, aggregates: 'figures' },
  { maxCharacters: 32, aggregates: 'health' },
];

/**
 * Shortens notes, messages and aggregates until the status fits the hub. Errors come before other notes. A line that equals its previous
 * line, except for `asOf`, is replaced by the previous line. Equal statuses give equal results.
 */
export function bounded(status: PropagationStatus, previous: PropagationStatus): PropagationStatus {
  const withNotes = { ...status, notes: firstNotes(status.notes ?? []) };
  const before = new Map(previous.clusters?.map((line) => [line.cluster, line]));
  let cut: PropagationStatus = withNotes;
  for (const measure of measures) {
    cut = cutTo(withNotes, measure);
    if (bytesOf(cut) <= maxStatusBytes) break;
  }
  // Compared again after shortening: a line that equals the previous one, except for `asOf`, stays the previous one.
  return { ...cut, clusters: (cut.clusters ?? []).map((line) => previousIfSame(before.get(line.cluster), line)) };
}

function bytesOf(status: PropagationStatus): number {
  return Buffer.byteLength(JSON.stringify(printStatus(status)));
}

type Notes = NonNullable<PropagationStatus['notes']>;

function firstNotes(notes: Notes): Notes {
  if (notes.length <= maxNotes) return notes;
  const sorted = [...notes.filter(({ severity }) => severity === 'ERROR'), ...notes.filter(({ severity }) => severity !== 'ERROR')];
  const last = notes.at(-1);
  // These notes were shortened before. Their last note already says how many were left out.
  if (notes.length === maxNotes + 1 && last?.code === moreCode) return notes;
  const message = `and ${notes.length - maxNotes} more`;
  return [...sorted.slice(0, maxNotes), { severity: 'INFO', code: moreCode, message }];
}

const moreCode = 'MORE';

function cutTo(status: PropagationStatus, { maxCharacters, aggregates }: (typeof measures)[number]): PropagationStatus {
  const short = (text: string) => text.slice(0, maxCharacters).toWellFormed();
  return {
    ...status,
    clusters: (status.clusters ?? []).map((line) => shortLine(line, short)),
    conditions: (status.conditions ?? []).map((condition) => ({ ...condition, message: short(condition.message) })),
    aggregate: (status.aggregate ?? []).map((of) => shortAggregate(of, { short, aggregates })),
    notes: (status.notes ?? []).map((note) => ({ ...note, message: short(note.message) })),
  };
}

function shortLine(line: ClusterLine, short: (text: string) => string): ClusterLine {
  const { message, fault } = line;
  return {
    ...line,
    ...(message === undefined ? {} : { message: short(message) }),
    ...(fault === undefined ? {} : { fault: { ...fault, message: short(fault.message) } }),
  };
}

function shortAggregate(
  aggregated: AggregatedStatus,
  { short, aggregates }: { readonly short: (text: string) => string; readonly aggregates: (typeof measures)[number]['aggregates'] },
): AggregatedStatus {
  switch (aggregates) {
    case 'whole':
      return {
        ...aggregated,
        conditions: aggregated.conditions.map(({ cluster, condition }) => ({ cluster, condition: shortTexts(condition, short) })),
      };
    case 'figures':
      return { ...aggregated, conditions: [] };
    case 'health':
      return { ...aggregated, status: {}, conditions: [] };
    default:
      return aggregates satisfies never;
  }
}

function shortTexts(value: Json, short: (text: string) => string): Json {
  if (typeof value === 'string') return short(value);
  if (Array.isArray(value)) return value.map((member: Json) => shortTexts(member, short));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortTexts(member ?? null, short)]));
}
