// Runs embedded clusters in a separate process. The last one has our custom resource definitions. Prints their addresses.
// A control port reports the requests that they received:
//   sim-fleet.ts CLUSTERS
//   GET /reached?writes=N  answers when the members have done N writes since the last /reset; GET /counts; POST /reset
import { createServer } from 'node:http';
import { hubDefinitions } from '../../../../src/propagate/hub/hub-definitions.ts';
import { kubeconfigOf } from '../../../../src/sim/start-demo-fleet.ts';
import type { SimCluster } from '../../../support/sim/sim-cluster.ts';
import { startSimCluster } from '../../../support/sim/start-sim-cluster.ts';
import { writeKubeconfigText } from '../../support/bench-kubeconfig.ts';

const [memberCount = '100'] = process.argv.slice(2);
/** Writes to members since the last reset. */
let writes = 0;
let hubWrites = 0;
const waiting = new Set<{ readonly writes: number; tell(): void }>();

const members: SimCluster[] = [];
for (let index = 0; index < Number(memberCount); index += 1) members.push(await startSimCluster({ name: `member-${index}` }));
const hub = await startSimCluster({ name: 'hub' });
for (const definition of await hubDefinitions()) hub.define(definition);
for (const member of members)
  member.onWrite(() => {
    writes += 1;
    for (const one of waiting) if (writes >= one.writes) one.tell();
    return undefined;
  });
hub.onWrite(({ kind }) => {
  if (kind !== 'Lease') hubWrites += 1;
  return undefined;
});
let seen = new Map(members.map((member) => [member, 0]));

const control = createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://control');
  const answer = (body: unknown) => void response.end(JSON.stringify(body));
  if (url.pathname === '/reached') {
    const wanted = Number(url.searchParams.get('writes'));
    if (writes >= wanted) return answer({ writes });
    const one = {
      writes: wanted,
      tell: () => {
        waiting.delete(one);
        answer({ writes });
      },
    };
    waiting.add(one);
    return;
  }
  if (url.pathname === '/reset') {
    writes = 0;
    hubWrites = 0;
    seen = new Map(members.map((member) => [member, member.requests.length]));
    return answer({});
  }
  answer({ writes, hubWrites, calls: members.reduce((sum, member) => sum + callsOf(member), 0) });
}).listen(0, '127.0.0.1', () => {
  const address = control.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const all = [...members, hub].map(({ name, url, caPem, token }) => ({ name, url, ca: caPem, token }));
  const line = {
    kubeconfig: writeKubeconfigText(kubeconfigOf([...members, hub])),
    control: `http://127.0.0.1:${port}`,
    servers: JSON.stringify(all),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
});

/** Counts requests for a member's objects since the reset, without those of mirrors. The log keeps the latest 100,000. */
function callsOf(member: SimCluster): number {
  return member.requests
    .slice(seen.get(member) ?? 0)
    .filter(({ resource }) => resource !== undefined && resource.verb !== 'list' && resource.verb !== 'watch').length;
}
