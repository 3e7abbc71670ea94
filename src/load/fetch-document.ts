import type { ClusterApi } from '../cluster/cluster-api.ts';
import { type Json, parseJsonExactly } from '../core/json.ts';
import type { ClusterName } from '../core/names.ts';
import type { FetchDocument } from './unknown-kinds.ts';

/** Fetches OpenAPI documents from the API servers themselves. Undefined for a cluster that has left, does not answer, or answers no JSON. */
export function createDocumentFetcher(apiOf: (cluster: ClusterName) => ClusterApi | undefined): FetchDocument {
  return async (cluster, path, signal) => {
    const answer = await apiOf(cluster)?.send({ method: 'GET', path: ['openapi', 'v3', ...path] }, signal);
    return answer?.type === 'answered' ? parseDocument(answer.body) : undefined;
  };
}

function parseDocument(body: Uint8Array): Json | undefined {
  try {
    return parseJsonExactly(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
