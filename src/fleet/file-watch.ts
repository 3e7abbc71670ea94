import { type FSWatcher, watch } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../core/clock.ts';

/** Milliseconds between two checks of the files. Needed where the system reports no changes: network drives, exhausted inotify. */
const pollMs = 5_000;

/** Editors write a file in several steps. Changes within this time count as one. */
const settleMs = 50;

/**
 * Yields after the content behind any of the paths may have changed: written, replaced by a rename, deleted, created, or reached by another
 * symbolic link (a mounted Secret or ConfigMap). Several changes within 50 ms yield once.
 *
 * Yields once within 5 s even without a change, so that a change during the first read of the files is not lost. Changes while the consumer
 * is busy yield once, afterwards. Ends when the signal aborts.
 */
export async function* watchFiles(paths: readonly string[], clock: Clock, signal: AbortSignal): AsyncIterable<void> {
  let before: string | undefined;
  while (!signal.aborted) {
    // Repeated after each change, because the folders behind symbolic links may have changed.
    const alarm = createAlarm(clock, signal);
    const watchers = await watchFolders(paths, alarm.ring);
    try {
      let now = before;
      while (now === before) {
        await alarm.wait();
        if (signal.aborted) return;
        now = await stateOf(paths);
      }
      before = now;
    } finally {
      for (const watcher of watchers) watcher.close();
    }
    yield;
  }
}

/** Creates an alarm that other code can ring. `wait` resolves 50 ms after `ring` was called, or 5 s after the wait began. */
function createAlarm(clock: Clock, signal: AbortSignal) {
  let rung = new AbortController();
  return {
    ring: () => rung.abort(),
    wait: async () => {
      await clock.sleep(pollMs, AbortSignal.any([signal, rung.signal]));
      if (rung.signal.aborted) await clock.sleep(settleMs, signal);
      rung = new AbortController();
    },
  };
}

async function watchFolders(paths: readonly string[], onEvent: () => void): Promise<readonly FSWatcher[]> {
  // Watches the folder, because a rename onto the file would leave a watcher of the file with the old inode. Watches the folder behind
  // symbolic links too.
  const folders = new Set<string>();
  for (const file of paths) {
    folders.add(path.dirname(file));
    folders.add(path.dirname(await realpath(file).catch(() => file)));
  }
  const watchers: FSWatcher[] = [];
  for (const folder of folders) {
    try {
      const watcher = watch(folder, { persistent: false }, onEvent);
      watcher.on('error', () => watcher.close());
      watchers.push(watcher);
    } catch {
      // Without a watcher, polling finds the changes.
    }
  }
  return watchers;
}

async function stateOf(paths: readonly string[]): Promise<string> {
  const states = await Promise.all(
    paths.map(async (file) => {
      const target = await realpath(file).catch(() => undefined);
      if (target === undefined) return 'absent';
      const { ino, size, mtimeNs, ctimeNs } = await stat(target, { bigint: true }).catch(() => ({
        ino: 0n,
        size: 0n,
        mtimeNs: 0n,
        ctimeNs: 0n,
      }));
      return `${target} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
    }),
  );
  return states.join('\n');
}
