import { ClusterAnswers, type ClusterSync, syncFields } from '../client/cluster-answers.ts';
import type { Session } from '../client/session.ts';
import type { LogSource } from './log-lines.ts';

/** The arguments of `podLogs`. */
export interface LogArguments {
  readonly clusters: readonly string[] | null;
  readonly namespaces: readonly string[] | null;
  readonly labels: string | null;
  readonly names: readonly string[] | null;
  readonly container: string | null;
}

interface FoundPods {
  readonly pods: {
    readonly sync: readonly ClusterSync[];
    readonly items: readonly {
      readonly metadata: { readonly name: string };
      readonly spec: Readonly<Record<'initContainers' | 'containers' | 'ephemeralContainers', readonly NamedContainer[] | null>> | null;
    }[];
  };
}

interface NamedContainer {
  readonly name: string | null;
}

/** The largest number of Pods in one answer. */
const maxPods = 500;

/** Requested logs that were not found. */
export interface MissingLogs {
  /** A line for each Pod or container that does not exist. */
  readonly absent: readonly string[];
  /**
   * Texts for what may exist in a cluster that did not answer: one for each named Pod that was not found, such as `Pod web in shop`. For a
   * request without names: one text, such as `containers in shop`.
   */
  readonly unknown: readonly string[];
  readonly answers: ClusterAnswers;
}

/**
 * Finds requested Pods and containers that do not exist.
 *
 * For a request by names, returns a line for each Pod that does not exist, or that does not have the named container. For a request by
 * labels, returns a line only if none of the Pods has the named container. Labels without Pods are no error. Sends no query if `logs` has
 * a log of each named Pod, or any log for a request by labels.
 */
export async function findMissingLogs({ gateway }: Session, logArguments: LogArguments, logs: readonly LogSource[]): Promise<MissingLogs> {
  const { names, container, ...selection } = logArguments;
  const found = new Set(logs.map(({ pod }) => pod));
  const missing = names?.filter((name) => !found.has(name));
  const answers = new ClusterAnswers();
  if (missing === undefined ? logs.length > 0 : missing.length === 0) return { absent: [], unknown: [], answers };
  const query = `query ($clusters: [String!], $namespaces: [String!], $labels: String, $where: Where) {
    pods(clusters: $clusters, namespaces: $namespaces, labels: $labels, where: $where, first: ${maxPods}) {
      sync { ${syncFields} }
      items { metadata { name } spec { initContainers { name } containers { name } ephemeralContainers { name } } }
    }
  }`;
  const where = missing === undefined ? null : { path: 'metadata.name', in: missing };
  const { pods } = await gateway.query<FoundPods>(query, { ...selection, where });
  answers.add(pods.sync);
  if (missing === undefined) {
    if (!answers.isComplete) return { absent: [], unknown: [`containers${placeOf(logArguments)}`], answers };
    return { absent: pods.items.length === 0 ? [] : noContainer('the Pods', pods.items, container), unknown: [], answers };
  }
  const unfound = missing.filter((name) => !pods.items.some(({ metadata }) => metadata.name === name));
  const absent = missing.flatMap((name) => {
    const ofName = pods.items.filter(({ metadata }) => metadata.name === name);
    if (ofName.length > 0) return noContainer(`the Pod ${name}`, ofName, container);
    return answers.isComplete ? [`there is no Pod ${name}${placeOf(logArguments)}`] : [];
  });
  return { absent, unknown: answers.isComplete ? [] : unfound.map((name) => `Pod ${name}${placeOf(logArguments)}`), answers };
}

/** Returns a line if none of the Pods has the container. Empty if a Pod has it: the container exists now, although its log was not found before. */
function noContainer(whose: string, pods: FoundPods['pods']['items'], container: string | null): readonly string[] {
  const lists = pods.flatMap(({ spec }) => [spec?.initContainers, spec?.containers, spec?.ephemeralContainers]);
  const known = new Set(lists.flatMap((list) => list?.map(({ name }) => name ?? '') ?? []));
  if (container === null || known.has(container)) return [];
  return [`expected a container of ${whose} (${[...known].join(', ')}), got ${container}`];
}

function placeOf({ clusters, namespaces, labels }: LogArguments): string {
  const where = [
    ...(namespaces === null ? [] : [` in ${namespaces.join(', ')}`]),
    ...(clusters === null ? [] : [` of ${clusters.join(', ')}`]),
    ...(labels === null ? [] : [` with ${labels}`]),
  ];
  return where.join('');
}
