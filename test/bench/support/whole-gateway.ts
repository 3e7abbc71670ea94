import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Flags } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createGateway } from '../../../src/gateway.ts';

/** Starts the gateway in this process over the clusters of a kubeconfig text. Resolves with its port when it is ready. */
export async function startWholeGateway(kubeconfigText: string, more: Flags = {}): Promise<number> {
  const directory = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
  const kubeconfig = path.join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigText, { mode: 0o600 });
  const config = await loadConfig({ flags: { kubeconfig, port: '0', ...more }, environment: { XDG_STATE_HOME: directory }, directory });
  const gateway = await createGateway({ config, clock: systemClock, log: silentLog });
  await gateway.whenStarted(new AbortController().signal);
  return Number(new URL(gateway.url).port);
}
