import type { ClusterApi } from '../cluster/cluster-api.ts';
import { isJsonObject, type Json } from '../core/json.ts';
import type { ServedResource } from '../core/kinds.ts';

/** Namespaces asked about at most, for one kind. */
export const mostNamespaces = 200;

const inFlight = 10;

/** Where a right is asked for. */
export interface RightsQuestion {
  readonly api: ClusterApi;
  readonly resource: ServedResource;
  readonly namespaces: readonly string[];
}

/**
 * The namespaces, of the first 200, in which the kind may be listed and watched, in the order given: by SelfSubjectAccessReviews, ten in
 * flight. What could not be asked is not granted.
 */
export async function grantedNamespaces({ api, resource, namespaces }: RightsQuestion, signal: AbortSignal): Promise<readonly string[]> {
  const asked = namespaces.slice(0, mostNamespaces);
  const granted = new Set<string>();
  const left = asked.values();
  const askOn = async () => {
    for (const namespace of left) {
      if (signal.aborted) return;
      if ((await isGranted('list', namespace)) && (await isGranted('watch', namespace))) granted.add(namespace);
    }
  };

  async function isGranted(verb: 'list' | 'watch', namespace: string): Promise<boolean> {
    const { group, version, resource: plural } = resource;
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { namespace, verb, group, version, resource: plural } },
    };
    const path = ['apis', 'authorization.k8s.io', 'v1', 'selfsubjectaccessreviews'];
    const answer = await api.send({ method: 'POST', path, body }, signal);
    return answer.type === 'answered' && isAllowed(answer.body);
  }

  await Promise.all(Array.from({ length: Math.min(inFlight, asked.length) }, askOn));
  return asked.filter((namespace) => granted.has(namespace));
}

function isAllowed(body: Uint8Array): boolean {
  const review = parseAnswer(body);
  return isJsonObject(review) && isJsonObject(review.status) && review.status.allowed === true;
}

/** The JSON of a live answer; undefined if it is none. */
export function parseAnswer(body: Uint8Array): Json | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as Json;
  } catch {
    return undefined;
  }
}
