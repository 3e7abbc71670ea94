import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { clusterName } from '../../../src/core/names.ts';
import { createMirrors } from '../../../src/watch/clusters/registry.ts';
import type { MirrorReader } from '../../../src/watch/mirrors.ts';
import { connectToCanned } from './canned-endpoint.ts';

/** Connects to a cluster and discovers its kinds. `mirror()` starts the mirror of its pods and resolves when the mirror is complete. */
export async function engageCanned({
  url,
  ca,
  signal,
}: {
  readonly url: string;
  readonly ca: string;
  readonly signal: AbortSignal;
}): Promise<{ mirror(): Promise<MirrorReader> }> {
  const name = clusterName('bench');
  const mirrors = createMirrors({ clock: systemClock, log: silentLog });
  mirrors.engage({ name, api: connectToCanned({ url, ca, signal }), namespaces: [], secrets: 'none' }, signal);
  await mirrors.whenDiscovered(name, signal);
  return {
    mirror: async () => {
      const lease = mirrors.acquire(name, { group: '', kind: 'Pod' });
      if (lease === undefined) throw new Error('pods are not served');
      await lease.mirror.whenSettled(signal);
      const sync = lease.mirror.sync();
      if (sync.phase !== 'SYNCED') throw new Error(`not synced: ${JSON.stringify(sync)}`);
      return lease.mirror;
    },
  };
}
