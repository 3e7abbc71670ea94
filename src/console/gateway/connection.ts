import { computed, signal } from '@preact/signals';

const silent = signal<ReadonlySet<string>>(new Set());

/** True while the gateway does not answer requests, or a stream is lost. */
export const isAway = computed(() => silent.value.size > 0);

/** Records that a source, such as one stream, gets no answer. */
export function reportSilence(source: string): void {
  if (!silent.value.has(source)) silent.value = new Set([...silent.value, source]);
}

/** Records that a source gets answers again, or has ended. */
export function reportAnswer(source: string): void {
  if (silent.value.has(source)) silent.value = new Set([...silent.value].filter((one) => one !== source));
}
