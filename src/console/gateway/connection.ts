import { computed, signal } from '@preact/signals';

const silent = signal<ReadonlySet<string>>(new Set());

/** True while the gateway does not answer requests, or a stream is lost. */
export const isAway = computed(() => silent.value.size > 0);

/** The source of all queries and mutations. */
const requests = 'requests';

/** Records that a source, such as one stream, has got no answer. Default: the queries and mutations. */
export function reportSilence(source = requests): void {
  if (!silent.value.has(source)) silent.value = new Set([...silent.value, source]);
}

/**
 * Records that the gateway has answered a source. A gateway that answers a stream also answers queries, so the queries no longer count as unanswered.
 * Default: the queries and mutations.
 */
export function reportAnswer(source = requests): void {
  forget(source, requests);
}

/** Records that a source has ended. */
export function reportStop(source: string): void {
  forget(source);
}

function forget(...sources: readonly string[]): void {
  if (sources.some((source) => silent.value.has(source))) silent.value = new Set([...silent.value].filter((one) => !sources.includes(one)));
}
