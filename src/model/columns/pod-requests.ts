import type { V1Container, V1ContainerStatus, V1Pod, V1PodSpec, V1PodStatus } from '@kubernetes/client-node';
import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../../core/json.ts';
import { memoizeByText } from '../../core/memoize-by-text.ts';
import type { TypedObject } from '../../core/objects.ts';
import { compareQuantities, parseQuantity, printQuantity, sumQuantities } from '../../core/quantities.ts';
import { itemsOf, type Stored } from '../../core/stored.ts';

/**
 * What a Pod asks of its node, by the name of the resource, as the scheduler counts it and `kubectl describe node` prints it for each Pod: the sum
 * of its containers and sidecars, at least what any other init container takes beside the sidecars before it; what the Pod as a whole asks for
 * instead of that; and the overhead of its runtime class. A container that is being resized counts with the most of what it asks for and what it has
 * (only the latter, where its node can never give more). An amount of which there is only one is as served. Never throws: what is no amount is left
 * out. The rules are those of k8s.io/component-helpers/resource (1.36).
 */
export function podRequestsOf(pod: TypedObject<V1Pod>): JsonObject {
  const total: Amounts = new Map();
  const [spec, status] = [pod.spec ?? {}, pod.status ?? {}];
  const ofContainers = { statuses: itemsOf(status.containerStatuses), pod: status };
  for (const container of itemsOf(spec.containers)) addAll(total, effectiveOf(container, ofContainers));
  addInitContainers(total, itemsOf(spec.initContainers), { statuses: itemsOf(status.initContainerStatuses), pod: status });
  if (spec.resources !== undefined) {
    for (const [name, amount] of amountsIn(requestsOf(spec))) if (isOfPod(name)) total.set(name, amount);
  }
  addAll(total, amountsIn(spec.overhead ?? {}));
  return Object.fromEntries(total);
}

/** By the name of the resource, as served. */
type Requests = Readonly<Record<string, string>>;

/** By the name of the resource. */
type Amounts = Map<string, string>;

/** What the kubelet says of containers, and of their Pod. */
interface Told {
  readonly statuses: readonly Stored<V1ContainerStatus>[];
  readonly pod: Stored<V1PodStatus>;
}

/** They run one after the other, each beside the sidecars that were started before it. */
function addInitContainers(total: Amounts, initContainers: readonly Stored<V1Container>[], told: Told): void {
  if (initContainers.length === 0) return;
  const sidecars: Amounts = new Map();
  const least: Amounts = new Map();
  for (const container of initContainers) {
    if (container.restartPolicy === 'Always') {
      const requests = effectiveOf(container, told);
      addAll(total, requests);
      addAll(sidecars, requests);
      raiseAll(least, sidecars);
    } else {
      const requests = amountsIn(requestsOf(container));
      addAll(requests, sidecars);
      raiseAll(least, requests);
    }
  }
  raiseAll(total, least);
}

function effectiveOf(container: Stored<V1Container>, { statuses, pod }: Told): Amounts {
  const wanted = requestsOf(container);
  const status = statuses.find(({ name }) => name === container.name);
  if (!isJsonObject(status?.resources)) return amountsIn(wanted);
  const given = [requestsOf(status), status.allocatedResources ?? {}];
  // As nearly always: it has what it asks for.
  if (given.every((list) => isSame(wanted, list))) return amountsIn(wanted);
  const effective: Amounts = isInfeasible(pod) ? new Map() : amountsIn(wanted);
  for (const list of given) raiseAll(effective, amountsIn(list));
  return effective;
}

function isSame(a: Requests, b: Requests): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

function isInfeasible({ conditions }: Stored<V1PodStatus>): boolean {
  return itemsOf(conditions).find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';
}

/** The resources that a Pod may ask for as a whole: of others what it says there does not count. */
function isOfPod(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/** Of a container, its status, or the spec of a Pod. */
function requestsOf({ resources }: Stored<V1Container | V1ContainerStatus | V1PodSpec>): Requests {
  return resources?.requests ?? {};
}

function amountsIn(list: Requests): Amounts {
  const amounts: Amounts = new Map();
  for (const name of Object.keys(list)) {
    const value: Json | undefined = list[name];
    const text = typeof value === 'number' ? String(value) : isRawNumber(value) ? value.rawJSON : value;
    if (typeof text === 'string' && quantityOf(text) !== undefined) amounts.set(name, text);
  }
  return amounts;
}

function addAll(total: Amounts, more: Amounts): void {
  for (const [name, amount] of more) {
    const before = total.get(name);
    total.set(name, before === undefined ? amount : sumOf(before, amount));
  }
}

function raiseAll(total: Amounts, least: Amounts): void {
  for (const [name, amount] of least) {
    const before = total.get(name);
    if (before === undefined || (before !== amount && isLess(before, amount))) total.set(name, amount);
  }
}

/** In the format of the first, unless that is zero: as apimachinery's `Quantity.Add` has it. */
function sumOf(a: string, b: string): string {
  const [x, y] = [quantityOf(a), quantityOf(b)];
  if (x === undefined || y === undefined) return a;
  const sum = sumQuantities([x, y].map((quantity) => ({ quantity, times: 1 })));
  return sum === undefined ? a : printQuantity({ ...sum, format: x.mantissa === 0n ? y.format : x.format });
}

function isLess(a: string, b: string): boolean {
  const [x, y] = [quantityOf(a), quantityOf(b)];
  return x !== undefined && y !== undefined && compareQuantities(x, y) < 0;
}

/** Reading an amount takes longer than all the rest. */
const quantityOf = memoizeByText(parseQuantity);
