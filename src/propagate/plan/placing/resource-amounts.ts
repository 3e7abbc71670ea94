import type { V1Container, V1PodSpec } from '@kubernetes/client-node';
import type { Json } from '../../../core/json.ts';
import { objectAt } from '../../../core/json-at.ts';
import { parseQuantity } from '../../../core/quantities.ts';
import { itemsOf, type Stored } from '../../../core/stored.ts';

/** Amounts of resources by name, in whole units: CPU in millicores, memory in bytes, Pods as a number. Exact below 2⁵³. */
export type ResourceAmounts = ReadonlyMap<string, number>;

/** Reads a ResourceList (core/v1). Rounds up to whole units (CPU: millicores), and leaves out values that are not quantities. */
export function amountsIn(list: Json | undefined): ResourceAmounts {
  const amounts = new Map<string, number>();
  for (const [name, value] of Object.entries(objectAt(list))) {
    const amount = amountOf(name, value);
    if (amount !== undefined) amounts.set(name, amount);
  }
  return amounts;
}

/** Adds two amounts, resource by resource. */
export function addAmounts(a: ResourceAmounts, b: ResourceAmounts): ResourceAmounts {
  const sum = new Map(a);
  for (const [name, amount] of b) sum.set(name, (sum.get(name) ?? 0) + amount);
  return sum;
}

/** Subtracts `b` from `a`, for the resources that `a` has. Results may be negative. */
export function subtractAmounts(a: ResourceAmounts, b: ResourceAmounts): ResourceAmounts {
  return new Map([...a].map(([name, amount]) => [name, amount - (b.get(name) ?? 0)]));
}

/**
 * Returns how many times `requests` fit into `free`. A requested resource that is absent in `free` counts as 0. Infinity if nothing is
 * requested.
 */
export function timesThatFit(free: ResourceAmounts, requests: ResourceAmounts): number {
  let fits = Number.POSITIVE_INFINITY;
  for (const [name, amount] of requests) {
    if (amount > 0) fits = Math.min(fits, Math.max(0, Math.floor((free.get(name) ?? 0) / amount)));
  }
  return fits;
}

/**
 * Returns the requests of a Pod as the Kubernetes scheduler counts them, plus its overhead. For each resource, the larger of two numbers
 * counts: the sum of containers and sidecars, or the largest init container with the sidecars before it.
 */
export function requestsOf(podSpec: Stored<V1PodSpec> | undefined): ResourceAmounts {
  let sidecars: ResourceAmounts = new Map();
  let starting: ResourceAmounts = new Map();
  for (const container of itemsOf(podSpec?.initContainers)) {
    const requests = requestsIn(container);
    const isSidecar = container.restartPolicy === 'Always';
    if (isSidecar) sidecars = addAmounts(sidecars, requests);
    starting = largest(starting, isSidecar ? sidecars : addAmounts(sidecars, requests));
  }
  const running = itemsOf(podSpec?.containers).map(requestsIn).reduce(addAmounts, sidecars);
  return addAmounts(largest(running, starting), amountsIn(podSpec?.overhead));
}

/** Reads the requests of a container. The default of a request is the limit, as in the API server. */
function requestsIn({ resources }: Stored<V1Container>): ResourceAmounts {
  return new Map([...amountsIn(resources?.limits), ...amountsIn(resources?.requests)]);
}

function largest(a: ResourceAmounts, b: ResourceAmounts): ResourceAmounts {
  return new Map([...a.keys(), ...b.keys()].map((name) => [name, Math.max(a.get(name) ?? 0, b.get(name) ?? 0)]));
}

function amountOf(name: string, value: Json | undefined): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const quantity = parseQuantity(String(value));
  if (quantity === undefined) return undefined;
  const exponent = quantity.exponent + (name === 'cpu' ? 3 : 0);
  if (exponent >= 0) return Number(quantity.mantissa * 10n ** BigInt(exponent));
  const divisor = 10n ** BigInt(-exponent);
  const whole = quantity.mantissa / divisor;
  return Number(quantity.mantissa % divisor > 0n ? whole + 1n : whole);
}
