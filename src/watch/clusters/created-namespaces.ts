import type { MirrorReader } from '../mirrors.ts';

/**
 * Calls back with the names of namespaces that are created after the first list, until the signal aborts. The first list needs no call,
 * because a mirror that needs the namespaces of that list waits for it.
 *
 * @param mirror The mirror of namespaces.
 */
export async function followCreatedNamespaces(
  mirror: MirrorReader,
  onCreated: (names: readonly string[]) => void,
  signal: AbortSignal,
): Promise<void> {
  await mirror.whenSettled(signal);
  if (signal.aborted) return;
  mirror.store.follow((events) => {
    const names = events.flatMap((event) => (event.type === 'applied' && event.before === undefined ? [event.object.metadata.name] : []));
    if (names.length > 0) onCreated(names);
  }, signal);
}
