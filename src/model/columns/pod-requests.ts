import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, objectAt, textAt, valueAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { compareQuantities, parseQuantity, printQuantity, sumQuantities } from '../../core/quantities.ts';

/**
 * What a Pod asks of its node, by the name of the resource, as the scheduler counts it and `kubectl describe node` prints it for each Pod: the sum
 * of its containers and sidecars, at least what any other init container takes beside the sidecars before it; what the Pod as a whole asks for
 * instead of that; and the overhead of its runtime class. A container that is being resized counts with the most of what it asks for and what it has
 * (only the latter, where its node can never give more). An amount of which there is only one is as served. Never throws: what is no amount is left
 * out. The rules are those of k8s.io/component-helpers/resource (1.36).
 */
export function podRequestsOf(pod: KubernetesObject): JsonObject {
  const total: Amounts = new Map();
  const status = objectAt(pod, 'status');
  const given: Given = { byName: containersGiven(status), isInfeasible: isInfeasible(status) };
  for (const container of listAt(pod, 'spec', 'containers')) addAll(total, effectiveOf(container, given));
  addInitContainers(total, listAt(pod, 'spec', 'initContainers'), given);
  for (const [name, amount] of requestsOf(pod.spec)) if (isOfPod(name)) total.set(name, amount);
  addAll(total, amountsIn(objectAt(pod, 'spec', 'overhead')));
  return Object.fromEntries(total);
}

/** By the name of the resource. */
type Amounts = Map<string, string>;

/** What the kubelet says that containers have. */
interface Given {
  /** Statuses, by the name of the container. */
  readonly byName: ReadonlyMap<string, Json>;
  /** True if the node can never give what the spec asks for. */
  readonly isInfeasible: boolean;
}

function containersGiven(status: JsonObject): ReadonlyMap<string, Json> {
  const statuses = [...listAt(status, 'containerStatuses'), ...listAt(status, 'initContainerStatuses')];
  return new Map(statuses.filter((one) => isJsonObject(valueAt(one, 'resources'))).map((one) => [textAt(one, 'name') ?? '', one]));
}

function isInfeasible(status: JsonObject): boolean {
  const pending = listAt(status, 'conditions').find((condition) => textAt(condition, 'type') === 'PodResizePending');
  return textAt(pending, 'reason') === 'Infeasible';
}

/** They run one after the other, each beside the sidecars that were started before it. */
function addInitContainers(total: Amounts, initContainers: readonly Json[], given: Given): void {
  const sidecars: Amounts = new Map();
  const least: Amounts = new Map();
  for (const container of initContainers) {
    if (textAt(container, 'restartPolicy') === 'Always') {
      const requests = effectiveOf(container, given);
      addAll(total, requests);
      addAll(sidecars, requests);
      raiseAll(least, sidecars);
    } else {
      const requests = requestsOf(container);
      addAll(requests, sidecars);
      raiseAll(least, requests);
    }
  }
  raiseAll(total, least);
}

function effectiveOf(container: Json, { byName, isInfeasible }: Given): Amounts {
  const requests = requestsOf(container);
  const status = byName.get(textAt(container, 'name') ?? '');
  if (status === undefined) return requests;
  const effective = isInfeasible ? new Map() : requests;
  raiseAll(effective, requestsOf(status));
  raiseAll(effective, amountsIn(objectAt(status, 'allocatedResources')));
  return effective;
}

/** The resources that a Pod may ask for as a whole: of others what it says there does not count. */
function isOfPod(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/** Of a container, its status, or the spec of a Pod. */
function requestsOf(holder: Json | undefined): Amounts {
  return amountsIn(objectAt(holder, 'resources', 'requests'));
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
    if (known === undefined || (known !== amount && isLess(known, amount))) total.set(name, amount);
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
