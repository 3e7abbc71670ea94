import type { V1Container, V1ContainerStatus, V1Pod, V1PodSpec, V1PodStatus } from '@kubernetes/client-node';
import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../../core/json.ts';
import { memoizeByText } from '../../core/memoize-by-text.ts';
import type { TypedObject } from '../../core/objects.ts';
import { compareQuantities, parseQuantity, printQuantity, sumQuantities } from '../../core/quantities.ts';
import { itemsOf, type Stored } from '../../core/stored.ts';

/**
 * Computes the resources that a Pod requests from its Node, by the name of the resource. The scheduler and `kubectl describe node` compute
 * the same.
 *
 * - The requests are the sum over containers and sidecars. If an init container, together with the sidecars that start before it, needs
 * more than this sum, its need counts instead.
 * - Requests of the Pod as a whole replace that sum. The overhead of the runtime class is added.
 * - A container that is being resized counts with the larger of its requested and its actual amount. If its Node can never provide the
 * request, only the actual amount counts.
 *
 * An amount that is no sum keeps the text that the API server serves, such as `1000m`. Never throws: values that are no amounts are
 * ignored. The rules are those of k8s.io/component-helpers/resource (1.36).
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

/** Requested amounts by the name of the resource, in the form the API server serves. */
type Requests = Readonly<Record<string, string>>;

/** Amounts by the name of the resource. */
type Amounts = Map<string, string>;

/** The status that the kubelet reports for containers and their Pod. */
interface ReportedStatus {
  readonly statuses: readonly Stored<V1ContainerStatus>[];
  readonly pod: Stored<V1PodStatus>;
}

/**
 * Adds the requests of the sidecars to `total`, and raises `total` to the most that is needed while the init containers run. They run one
 * after the other, each next to the sidecars that were started before it.
 */
function addInitContainers(total: Amounts, initContainers: readonly Stored<V1Container>[], reported: ReportedStatus): void {
  if (initContainers.length === 0) return;
  const sidecars: Amounts = new Map();
  const least: Amounts = new Map();
  for (const container of initContainers) {
    if (container.restartPolicy === 'Always') {
      const requests = effectiveOf(container, reported);
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

function effectiveOf(container: Stored<V1Container>, { statuses, pod }: ReportedStatus): Amounts {
  const wanted = requestsOf(container);
  const status = statuses.find(({ name }) => name === container.name);
  if (!isJsonObject(status?.resources)) return amountsIn(wanted);
  const given = [requestsOf(status), status.allocatedResources ?? {}];
  // The usual case: the container has what it requests.
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

/** True for resources that a Pod may request as a whole. Requests of a Pod for other resources are ignored. */
function isOfPod(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/** Returns the requests of a container, of its status, or of the spec of a Pod. */
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

/** Adds two amounts in the format of the first, or of the second if the first is zero, as `Quantity.Add` of apimachinery. */
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

/** Parses an amount. Cached, because parsing takes longer than all other steps. */
const quantityOf = memoizeByText(parseQuantity);
