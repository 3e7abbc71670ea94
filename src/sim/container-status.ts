import { isJsonObject, type JsonObject } from '../core/json.ts';
import { listAt } from '../core/json-at.ts';
import type { KubernetesObject } from '../core/objects.ts';

/** What a Pod's status says of one of its containers, of whatever sort. */
export function containerStatusOf(pod: KubernetesObject, container: string): JsonObject | undefined {
  return ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses']
    .flatMap((field) => listAt(pod.status, field))
    .filter(isJsonObject)
    .find(({ name }) => name === container);
}
