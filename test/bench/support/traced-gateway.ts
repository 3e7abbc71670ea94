// A gateway in its own process, with traces if a collector is named. Answers each question with its URL and its CPU time so far.
//   traced-gateway.ts KUBECONFIG [COLLECTOR]
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig } from '../../../src/config/load-config.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createGateway } from '../../../src/gateway.ts';
import { answerParent } from '../forked.ts';
import { cpuNow } from './measuring.ts';

export interface TracedGatewayState {
  readonly url: string;
  readonly cpuMs: number;
}

const [kubeconfig = '', collector] = process.argv.slice(2);
const directory = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
const config = await loadConfig({
  flags: { kubeconfig, port: '0', ...(collector === undefined ? {} : { otlp: collector }) },
  environment: { ...process.env, XDG_STATE_HOME: directory },
  directory,
});
const gateway = await createGateway({ config, clock: systemClock, log: silentLog });
await gateway.whenStarted(new AbortController().signal);
answerParent<object, TracedGatewayState>(async () => ({ url: gateway.url, cpuMs: cpuNow().process }));
