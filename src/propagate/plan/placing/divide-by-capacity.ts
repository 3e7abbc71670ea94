import { type Apportionment, apportion, type Party, type TieBreak } from './apportion.ts';
import { type DivisionOptions, defaultBounds, type ReplicaCandidate } from './replica-bounds.ts';
import { sumBy } from './sum-by.ts';

/** `Available`: all clusters, by their room. `Aggregated`: as few clusters as have enough room together. */
type CapacityStrategy = 'Available' | 'Aggregated';

/**
 * A cluster to which replicas are offered. Its weight is the number of replicas that fit. If there are too many replicas, its weight is the
 * number of its previous replicas. `cap` is always set.
 */
export type CapacityOffer = Party & { readonly cap: number };

/**
 * Divides `count` replicas by the room of the clusters.
 *
 * - Without `keepsPrevious`: all replicas are divided anew. The room of a cluster is its capacity plus its previous replicas.
 * - With `keepsPrevious`, if there are too few previous replicas: these stay, and the missing ones are divided by capacity. Aggregated
 *   first fills clusters that have previous replicas.
 * - With `keepsPrevious`, if there are too many previous replicas: `count` is divided in proportion to them, and no cluster gets more than
 *   before. Aggregated keeps the clusters with the most replicas.
 *
 * No cluster exceeds its room or the maximum of its rules. Unlimited room counts as the largest known room, or as `count` if that is more.
 * With Aggregated, the order of the candidates decides between equal rooms.
 */
export function divideByCapacity(
  count: number,
  candidates: readonly ReplicaCandidate[],
  { strategy, keepsPrevious, tieBreak }: DivisionOptions & { readonly strategy: CapacityStrategy },
): Apportionment {
  const bounded = withBoundedRooms(count, candidates);
  const held = sumBy(candidates, ({ previous }) => previous);
  if (!keepsPrevious) return apportionOffers(count, roomiestFirst(bounded.map(wholeOffer)), { strategy, tieBreak });
  if (held > count) return apportionOffers(count, roomiestFirst(bounded.map(heldOffer)), { strategy, tieBreak });
  const more = apportionOffers(count - held, usedFirst(roomiestFirst(bounded.map(furtherOffer)), candidates), { strategy, tieBreak });
  return { seats: addSeats(candidates, more.seats), unplaced: more.unplaced };
}

/**
 * Divides `seats` by weight. Aggregated uses only as many of the first offers as have room for all seats together, or all offers if the
 * room is too small.
 */
export function apportionOffers(
  seats: number,
  offers: readonly CapacityOffer[],
  { strategy, tieBreak }: { readonly strategy: CapacityStrategy; readonly tieBreak: TieBreak },
): Apportionment {
  return apportion(seats, strategy === 'Aggregated' ? shortestWithRoom(seats, offers) : offers, tieBreak);
}

/** Moves the clusters with previous replicas to the front. The order is unchanged otherwise. */
export function usedFirst(
  offers: readonly CapacityOffer[],
  candidates: readonly Pick<ReplicaCandidate, 'name' | 'previous'>[],
): readonly CapacityOffer[] {
  const used = new Set(candidates.filter(({ previous }) => previous > 0).map(({ name }) => name));
  return [...offers.filter(({ name }) => used.has(name)), ...offers.filter(({ name }) => !used.has(name))];
}

/** Returns the replicas of each cluster by name: the previous ones plus the additional seats. */
export function addSeats(
  candidates: readonly Pick<ReplicaCandidate, 'name' | 'previous'>[],
  more: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const sums = new Map(more);
  for (const { name, previous } of candidates) sums.set(name, previous + (more.get(name) ?? 0));
  return sums;
}

function shortestWithRoom(seats: number, offers: readonly CapacityOffer[]): readonly CapacityOffer[] {
  let room = 0;
  const enough = offers.findIndex(({ cap }) => {
    room += cap;
    return room >= seats;
  });
  return enough < 0 ? offers : offers.slice(0, enough + 1);
}

function withBoundedRooms(count: number, candidates: readonly ReplicaCandidate[]): readonly ReplicaCandidate[] {
  const largest = Math.max(count, ...candidates.map(({ capacity }) => capacity).filter(Number.isFinite));
  return candidates.map((candidate) => (Number.isFinite(candidate.capacity) ? candidate : { ...candidate, capacity: largest }));
}

/** Returns what a cluster can take if all replicas are divided anew: its free room and the room of its own replicas, within its bounds. */
function wholeOffer({ name, previous, capacity, bounds: { min, max } = defaultBounds }: ReplicaCandidate): CapacityOffer {
  const room = capacity + previous;
  return { name, weight: room, min, cap: Math.min(max, room) };
}

/** Returns what a cluster can take in addition to the replicas that it has. */
function furtherOffer({ name, previous, capacity, bounds: { min, max } = defaultBounds }: ReplicaCandidate): CapacityOffer {
  return { name, weight: capacity, min: Math.max(0, min - previous), cap: Math.max(0, Math.min(max - previous, capacity)) };
}

/** Returns how many of its own replicas a cluster can keep if the total shrinks. */
function heldOffer({ name, previous, bounds: { min, max } = defaultBounds }: ReplicaCandidate): CapacityOffer {
  return { name, weight: previous, min, cap: Math.min(max, previous) };
}

function roomiestFirst(offers: readonly CapacityOffer[]): readonly CapacityOffer[] {
  return [...offers].sort((a, b) => b.cap - a.cap);
}
