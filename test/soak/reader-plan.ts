/** The subscription, the transport and the habit of one reader. */
export interface ReaderPlan {
  readonly name: string;
  readonly field: 'configMaps' | 'jobs' | 'jobStatus';
  /** Default: all namespaces. */
  readonly namespace?: string;
  readonly tier?: string;
  /**
   * `steady` stays connected. `resuming` disconnects at times and resumes with `after`. `leaving` disconnects at times and starts without a
   * cursor.
   * `slow` stops reading at times and then continues.
   */
  readonly habit: 'steady' | 'resuming' | 'leaving' | 'slow';
  readonly transport: 'shared' | 'own' | 'sse';
}

/** Streams on one shared socket: the most that the gateway allows. */
export const streamsPerSocket = 50;

/** Plans `count` readers. Three quarters share WebSockets, 15 % have a WebSocket of their own, and 10 % use server-sent events. */
export function planReaders(count: number, namespaces: readonly string[]): readonly ReaderPlan[] {
  return Array.from({ length: count }, (_, index) => planOf(index, namespaces));
}

function planOf(index: number, namespaces: readonly string[]): ReaderPlan {
  const namespace = namespaces[index % namespaces.length] ?? '';
  const transport = index % 20 < 15 ? 'shared' : index % 20 < 18 ? 'own' : 'sse';
  const name = `${index} ${transport}`;
  // Few readers select all namespaces: each of them costs as much as forty others.
  if (index % 200 === 16) return { name, transport, field: 'configMaps', habit: 'slow' };
  if (index % 400 === 0) return { name, transport, field: 'jobStatus', habit: 'steady' };
  const habit = index % 11 === 3 ? 'resuming' : index % 13 === 5 ? 'leaving' : 'steady';
  const around = Math.floor(index / namespaces.length) % 10;
  if (around === 4) return { name, transport, field: 'jobs', namespace, habit };
  if (around === 7) return { name, transport, field: 'jobStatus', namespace, habit };
  if (around === 9) return { name, transport, field: 'configMaps', namespace, tier: 'front', habit };
  return { name, transport, field: 'configMaps', namespace, habit };
}

const state = 'metadata { namespace name uid resourceVersion labels }';
const common = 'type cursor cluster { name } fault { code }';
const variables = '$namespaces: [String!], $labels: String, $after: String';
const given = 'namespaces: $namespaces, labels: $labels, after: $after';
const changesOf = (field: string) =>
  `subscription (${variables}) { stream: ${field}(${given}) { ${common} added { id ${state} } modified { id ${state} } deleted { id ${state} } } }`;
const jobState = `id phase job { ${state} }`;
const summary = 'summary { total stale byPhase { phase count } byCluster { total byPhase { count } } }';

const documents: Readonly<Record<ReaderPlan['field'], string>> = {
  configMaps: changesOf('configMaps'),
  jobs: changesOf('jobs'),
  jobStatus: `subscription (${variables}) { stream: jobStatus(${given}) { ${common} added { ${jobState} } modified { ${jobState} } deleted { ${jobState} } ${summary} } }`,
};

/** Returns the request of a reader. With `after`, the stream resumes at that cursor. */
export function requestOf({ field, namespace, tier }: ReaderPlan, after: string | undefined): object {
  const given = {
    ...(namespace === undefined ? {} : { namespaces: [namespace] }),
    ...(tier === undefined ? {} : { labels: `tier=${tier}` }),
    ...(after === undefined ? {} : { after }),
  };
  return { query: documents[field], variables: given };
}
