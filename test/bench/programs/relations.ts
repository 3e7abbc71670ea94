// Measures a list of 500 pods with 15 leaf fields each, from the mirror to bytes over HTTP, with and without relations.
//   relations.ts KUBECONFIG
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig } from '../../../src/config/load-config.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createGateway } from '../../../src/gateway.ts';
import { fifteenLeaves } from '../fifteen-leaves.ts';
import { cpuNow, cpuSince, finish } from '../support/measuring.ts';

const rounds = 30;
const relations = {
  node: 'node { metadata { name } }',
  owners: 'owner { kind owner { kind metadata { name } } }',
  services: 'services { items { metadata { name } } }',
};
const directory = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
const config = await loadConfig({
  flags: { kubeconfig: process.argv[2] ?? '', port: '0' },
  environment: { XDG_STATE_HOME: directory },
  directory,
});
const gateway = await createGateway({ config, clock: systemClock, log: silentLog });
await gateway.whenStarted(new AbortController().signal);

const figures: Record<string, number> = {};
const asked = { plain: '', all: Object.values(relations).join(' '), ...relations };
// Warm-up: mirrors start, indexes are built and code is compiled before the measurement.
for (const selection of Object.values(asked)) for (let n = 0; n < 10; n += 1) check(await list(selection), selection);
// Alternately, so that garbage collection affects all selections alike.
for (let n = 0; n < rounds; n += 1) {
  for (const [name, selection] of Object.entries(asked)) {
    const start = cpuNow();
    await list(selection);
    figures[`${name}Ms`] = (figures[`${name}Ms`] ?? 0) + cpuSince(start).main / rounds;
  }
}
finish(figures);

async function list(selection: string): Promise<string> {
  const query = `{ pods(first: 500) { items { ${fifteenLeaves} ${selection} } } }`;
  const body = JSON.stringify({ query });
  return (await fetch(gateway.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text();
}

interface Answer {
  readonly data: {
    readonly pods: {
      readonly items: readonly {
        readonly node?: object | null;
        readonly owner?: { readonly owner: object | null } | null;
        readonly services?: { readonly items: readonly object[] };
      }[];
    };
  };
}

/** Throws if a relation is empty, because an empty relation would cost little. */
function check(text: string, selection: string): void {
  const { items } = (JSON.parse(text) as Answer).data.pods;
  const whole = items.every(
    ({ node, owner, services }) =>
      (!selection.includes('node {') || node) && (!selection.includes('owner {') || owner?.owner) && (services?.items.length ?? 1) === 1,
  );
  if (items.length !== 500 || !whole) throw new Error(text.slice(0, 500));
}
