import type { ClusterApi } from '../../cluster/cluster-api.ts';
import { MusterError } from '../../core/errors.ts';
import { type Json, parseJsonBody } from '../../core/json.ts';
import { apiVersionOf, keyOfKind, type ServedResource } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import { convertGroupVersion } from '../../model/convert-group-version.ts';
import type { KindSchema } from '../../model/shapes.ts';

/**
 * Fetches `/openapi/v3/<path>` from a cluster. The path is `api/v1` or `apis/<group>/<version>`. An empty path fetches the list of documents.
 * Undefined if the cluster does not answer now. Rejects only because of a bug.
 */
export type FetchDocument = (cluster: ClusterName, path: readonly string[], signal: AbortSignal) => Promise<Json | undefined>;

/** The kinds that one cluster serves. Undefined until discovery has succeeded once. */
export interface ClusterKinds {
  readonly name: ClusterName;
  readonly resources: readonly ServedResource[] | undefined;
}

interface UnknownKindsOptions {
  readonly fetchDocument: FetchDocument;
  readonly log: Log;
  /** Called when `found` has further kinds. */
  readonly onFound: () => void;
}

/** The schemas of served kinds that neither the baseline nor a CustomResourceDefinition has, such as kinds of aggregated APIs and newer releases. */
interface UnknownKinds {
  /**
   * Requests the unknown kinds from the clusters: one group version after the other, and each once per cluster. A request without an answer is
   * repeated at the next call.
   */
  request(fleet: readonly ClusterKinds[], known: ReadonlySet<string>): void;
  /** Returns the kinds by the cluster that has answered. */
  found(): ReadonlyMap<ClusterName, readonly KindSchema[]>;
}

/**
 * Kinds that are left out on purpose: ComponentStatus is a relic without objects, and `events.k8s.io` is another name for the Events of the core
 * group.
 */
const leftOut: ReadonlySet<string> = new Set(['ComponentStatus', 'Event.events.k8s.io']);

/** A request for the document of one group version in one cluster. `resources` are the kinds in the document whose schemas are unknown. */
interface DocumentQuestion {
  readonly cluster: ClusterName;
  readonly resources: readonly ServedResource[];
  readonly path: readonly string[];
}

/** Creates an empty collection of schemas. `request` fills it in the background. After the signal has aborted, no request is sent. */
export function createUnknownKinds({ fetchDocument, log, onFound }: UnknownKindsOptions, signal: AbortSignal): UnknownKinds {
  const found = new Map<ClusterName, KindSchema[]>();
  const requested = new Set<string>();
  const waiting: DocumentQuestion[] = [];
  let busy = false;

  async function work(): Promise<void> {
    for (let question = waiting.shift(); question !== undefined && !signal.aborted; question = waiting.shift()) {
      const document = await fetchDocument(question.cluster, question.path, signal);
      if (signal.aborted) return;
      if (document === undefined) requested.delete(keyOf(question));
      else learn(question, document);
    }
    busy = false;
  }

  function learn({ cluster, resources }: DocumentQuestion, document: Json): void {
    try {
      found.set(cluster, [...(found.get(cluster) ?? []), ...convertGroupVersion({ document, resources, source: 'AGGREGATED' })]);
      onFound();
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      log.warn({ cluster, reason: error.message }, 'kinds are left out because their definition cannot be read');
    }
  }

  return {
    found: () => found,
    request(fleet, known) {
      for (const [resources = [], clusters] of Map.groupBy(fleet, (one) => one.resources)) {
        const documents = documentsWith(resources, known);
        for (const question of clusters.flatMap(({ name: cluster }) => documents.map((document) => ({ cluster, ...document })))) {
          if (requested.has(keyOf(question))) continue;
          requested.add(keyOf(question));
          waiting.push(question);
        }
      }
      if (busy || waiting.length === 0) return;
      busy = true;
      void work();
    },
  };
}

/** Returns the path of the document of a group version: `v1` → `api/v1`, `apps/v1` → `apis/apps/v1`. */
export function pathOfGroupVersion(apiVersion: string): readonly string[] {
  return apiVersion.includes('/') ? ['apis', ...apiVersion.split('/')] : ['api', apiVersion];
}

function keyOf({ cluster, path, resources }: DocumentQuestion): string {
  return JSON.stringify([cluster, path, resources.map(keyOfKind)]);
}

/** Returns the documents with the unknown kinds of a list. */
function documentsWith(resources: readonly ServedResource[], known: ReadonlySet<string>): readonly Omit<DocumentQuestion, 'cluster'>[] {
  const unknown = resources.filter((resource) => {
    const key = keyOfKind(resource);
    return resource.verbs.includes('list') && !known.has(key) && !leftOut.has(key);
  });
  return [...Map.groupBy(unknown, apiVersionOf)].map(([apiVersion, of]) => ({ resources: of, path: pathOfGroupVersion(apiVersion) }));
}

/** The accepted content types. API servers send the documents as JSON, and the list of documents as plain text. */
const expected = ['application/json', 'text/plain'];

/**
 * Creates the function that fetches OpenAPI documents from the API servers. It gives undefined for a cluster that has left, does not
 * answer, or does not answer with JSON.
 */
export function createDocumentFetcher(apiOf: (cluster: ClusterName) => ClusterApi | undefined): FetchDocument {
  return async (cluster, path, signal) => {
    const answer = await apiOf(cluster)?.send({ method: 'GET', path: ['openapi', 'v3', ...path], expected }, signal);
    return answer?.type === 'answered' ? parseJsonBody(answer.body) : undefined;
  };
}
