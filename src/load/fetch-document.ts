import type { ClusterApi } from '../cluster/cluster-api.ts';
import { jsonIn } from '../core/json.ts';
import type { ClusterName } from '../core/names.ts';
import type { FetchDocument } from './unknown-kinds.ts';

/** The list of documents has no type of its own, so that API servers call it text. */
const expected = ['application/json', 'text/plain'];

/** Fetches OpenAPI documents from the API servers themselves. Undefined for a cluster that has left, does not answer, or answers no JSON. */
export function createDocumentFetcher(apiOf: (cluster: ClusterName) => ClusterApi | undefined): FetchDocument {
  return async (cluster, path, signal) => {
    const answer = await apiOf(cluster)?.send({ method: 'GET', path: ['openapi', 'v3', ...path], expected }, signal);
    return answer?.type === 'answered' ? jsonIn(answer.body) : undefined;
  };
}
