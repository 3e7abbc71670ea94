import { isRawNumber, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, objectAt, textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { compareQuantities, parseQuantity, printQuantity, sumQuantities } from '../../core/quantities.ts';

/**
 * What a Pod asks of its node, by the name of the resource, as the scheduler counts it and `kubectl describe node` prints it: the sum of its
 * containers and sidecars, at least what any other init container takes beside the sidecars before it; what the Pod as a whole asks for instead of
 * that; and the overhead of its runtime class. An amount of which there is only one is as served. Never throws: what is no amount is left out.
 */
export function podRequestsOf(pod: KubernetesObject): JsonObject {
  const total: Amounts = new Map();
  for (const container of listAt(pod, 'spec', 'containers')) addAll(total, requestsOf(container));
  addInitContainers(total, listAt(pod, 'spec', 'initContainers'));
  for (const [name, amount] of requestsOf(objectAt(pod, 'spec'))) if (isOfPod(name)) total.set(name, amount);
  addAll(total, amountsIn(objectAt(pod, 'spec', 'overhead')));
  return Object.fromEntries(total);
}

/** By the name of the resource. */
type Amounts = Map<string, string>;

/** They run one after the other, each beside the sidecars that were started before it. */
function addInitContainers(total: Amounts, initContainers: readonly Json[]): void {
  const sidecars: Amounts = new Map();
  const least: Amounts = new Map();
  for (const container of initContainers) {
    const requests = requestsOf(container);
    if (textAt(container, 'restartPolicy') === 'Always') {
      addAll(total, requests);
      addAll(sidecars, requests);
      raiseAll(least, sidecars);
    } else {
      addAll(requests, sidecars);
      raiseAll(least, requests);
    }
  }
  raiseAll(total, least);
}

/** The resources that a Pod may ask for as a whole: of others what it says there does not count. */
function isOfPod(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

function requestsOf(container: Json): Amounts {
  return amountsIn(objectAt(container, 'resources', 'requests'));
}

function amountsIn(list: JsonObject): Amounts {
  const amounts: Amounts = new Map();
  for (const [name, value] of Object.entries(list)) {
    const text = typeof value === 'number' ? String(value) : isRawNumber(value) ? value.rawJSON : value;
    if (typeof text === 'string' && parseQuantity(text) !== undefined) amounts.set(name, text);
  }
  return amounts;
}

function addAll(total: Amounts, more: Amounts): void {
  for (const [name, amount] of more) {
    const known = total.get(name);
    total.set(name, known === undefined ? amount : sumOf(known, amount));
  }
}

function raiseAll(total: Amounts, least: Amounts): void {
  for (const [name, amount] of least) {
    const known = total.get(name);
    if (known === undefined || isLess(known, amount)) total.set(name, amount);
  }
}

/** In the format of the first, unless that is zero: as apimachinery's `Quantity.Add` has it. */
function sumOf(a: string, b: string): string {
  const [x, y] = [parseQuantity(a), parseQuantity(b)];
  if (x === undefined || y === undefined) return a;
  const sum = sumQuantities([x, y].map((quantity) => ({ quantity, times: 1 })));
  return sum === undefined ? a : printQuantity({ ...sum, format: x.mantissa === 0n ? y.format : x.format });
}

function isLess(a: string, b: string): boolean {
  const [x, y] = [parseQuantity(a), parseQuantity(b)];
  return x !== undefined && y !== undefined && compareQuantities(x, y) < 0;
}
