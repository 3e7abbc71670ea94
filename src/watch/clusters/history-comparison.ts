import type { ResourceVersion } from '../../core/names.ts';
import { compareVersions } from '../../store/versions.ts';
import type { OwnedMirror } from '../mirror/mirror.ts';

/**
 * Notices a server that lost part of its history: a mirror can be ahead of its server after etcd was restored. The server then sends no
 * events until it reaches the version of the watch.
 */
export class HistoryComparison {
  readonly #relistedEpochs = new WeakMap<OwnedMirror, string>();

  /**
   * Remembers the version of each mirror at this moment. The returned function receives the most recent version of the server, and relists
   * the mirrors whose remembered version is later, if they are still in use.
   *
   * A mirror is relisted only once per epoch. Its kind may be in another etcd than namespaces, and then its versions are not comparable.
   *
   * @param mirrors Returns the mirrors that are in use at the moment of the call.
   */
  compare(mirrors: () => readonly OwnedMirror[]): (revision: ResourceVersion) => void {
    const seen = mirrors().map((mirror) => ({ mirror, versions: mirror.versions }));
    return (revision) => {
      const used = new Set(mirrors());
      for (const { mirror, versions } of seen) {
        const { epoch } = mirror.store;
        const isAhead = versions.some((version) => (compareVersions(revision, version) ?? 0) < 0);
        if (!isAhead || this.#relistedEpochs.get(mirror) === epoch || !used.has(mirror)) continue;
        this.#relistedEpochs.set(mirror, epoch);
        mirror.relist(mirror.resource);
      }
    };
  }
}
