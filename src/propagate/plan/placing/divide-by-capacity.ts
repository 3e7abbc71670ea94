import { type Apportionment, apportion, type Party, type TieBreak } from './apportion.ts';
import { type DivisionOptions, defaultBounds, type ReplicaCandidate } from './rules.ts';
import { sumBy } from './sum-of.ts';

/** `Available`: over all clusters, by their room. `Aggregated`: over as few as have room enough. */
type CapacityStrategy = 'Available' | 'Aggregated';

/** A cluster as one that replicas are offered to: its weight, and its bound which is always there. */
export type CapacityOffer = Party & { readonly cap: number };

/**
 * `count` replicas by the room there is. The order of the claimants decides where Aggregated finds equal rooms.
 *
 * From zero the room of a cluster is its capacity and what it has. Steady: what is there stays; what is missing is divided over the capacities
 * (Aggregated: over clusters in use first), what is too much is taken off by size (Aggregated: the largest stay). Nobody gets more than its room or
 * the maximum of the rules. A room without bound weighs as the largest one, or as `count`.
 */
export function divideByCapacity(
  count: number,
  claimants: readonly ReplicaCandidate[],
  { strategy, keepsPrevious: steady, tieBreak }: DivisionOptions & { readonly strategy: CapacityStrategy },
): Apportionment {
  const bounded = withBoundedRooms(count, claimants);
  const held = sumBy(claimants, ({ previous }) => previous);
  if (!steady) return apportionOffers(count, roomiestFirst(bounded.map(wholeOffer)), { strategy, tieBreak });
  if (held > count) return apportionOffers(count, roomiestFirst(bounded.map(heldOffer)), { strategy, tieBreak });
  const more = apportionOffers(count - held, usedFirst(roomiestFirst(bounded.map(furtherOffer)), claimants), { strategy, tieBreak });
  return { seats: addSeats(claimants, more.seats), unplaced: more.unplaced };
}

/** Gives `seats` to the offers by weight; Aggregated: to the shortest beginning of the list with room for all, if there is one. */
export function apportionOffers(
  seats: number,
  offers: readonly CapacityOffer[],
  { strategy, tieBreak }: { readonly strategy: CapacityStrategy; readonly tieBreak: TieBreak },
): Apportionment {
  return apportion(seats, strategy === 'Aggregated' ? shortestWithRoom(seats, offers) : offers, tieBreak);
}

/** Those that have replicas first, else in the same order. */
export function usedFirst(
  offers: readonly CapacityOffer[],
  claimants: readonly Pick<ReplicaCandidate, 'name' | 'previous'>[],
): readonly CapacityOffer[] {
  const used = new Set(claimants.filter(({ previous }) => previous > 0).map(({ name }) => name));
  return [...offers.filter(({ name }) => used.has(name)), ...offers.filter(({ name }) => !used.has(name))];
}

/** What each has, and what is given besides. */
export function addSeats(
  claimants: readonly Pick<ReplicaCandidate, 'name' | 'previous'>[],
  more: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const sums = new Map(more);
  for (const { name, previous } of claimants) sums.set(name, previous + (more.get(name) ?? 0));
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

function withBoundedRooms(count: number, claimants: readonly ReplicaCandidate[]): readonly ReplicaCandidate[] {
  const largest = Math.max(count, ...claimants.map(({ capacity }) => capacity).filter(Number.isFinite));
  return claimants.map((claimant) => (Number.isFinite(claimant.capacity) ? claimant : { ...claimant, capacity: largest }));
}

/** From zero: all that would fit. */
function wholeOffer({ name, previous, capacity, bounds: { min, max } = defaultBounds }: ReplicaCandidate): CapacityOffer {
  const room = capacity + previous;
  return { name, weight: room, min, cap: Math.min(max, room) };
}

/** On top of what it has. */
function furtherOffer({ name, previous, capacity, bounds: { min, max } = defaultBounds }: ReplicaCandidate): CapacityOffer {
  return { name, weight: capacity, min: Math.max(0, min - previous), cap: Math.max(0, Math.min(max - previous, capacity)) };
}

/** What it may keep. */
function heldOffer({ name, previous, bounds: { min, max } = defaultBounds }: ReplicaCandidate): CapacityOffer {
  return { name, weight: previous, min, cap: Math.min(max, previous) };
}

function roomiestFirst(offers: readonly CapacityOffer[]): readonly CapacityOffer[] {
  return [...offers].sort((a, b) => b.cap - a.cap);
}
