import { expect, test } from 'vitest';
import type { Fault } from '../../../src/core/faults.ts';
import type { Log } from '../../../src/core/log.ts';
import { clusterName } from '../../../src/core/names.ts';
import { type MirrorLine, MirrorLog } from '../../../src/watch/clusters/mirror-log.ts';
import { startGateway } from '../../support/gateway/start-gateway.ts';
import { pod } from '../../support/workloads.ts';

/** Creates a log that keeps its lines, with the level first. */
function keptLog() {
  const lines: { readonly level: keyof Log; readonly fields: Readonly<Record<string, unknown>>; readonly message: string }[] = [];
  const at = (level: keyof Log) => (fields: Readonly<Record<string, unknown>>, message: string) => lines.push({ level, fields, message });
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { log, lines };
}

const name = clusterName('north');
const faultOf = (code: Fault['code']): Fault => ({ code, cluster: name, message: 'why', retry: 'LATER' });
const whole = { phase: 'SYNCED' } as const;
const lost = { phase: 'STALE', fault: faultOf('UNREACHABLE') } as const;
const refused = { phase: 'STALE', fault: faultOf('FORBIDDEN') } as const;
const listing = { phase: 'SYNCING', fault: faultOf('SYNCING') } as const;

type Told = readonly [sync: MirrorLine['sync'], level: keyof Log, cluster?: MirrorLine['cluster']];

test.each<[string, readonly Told[]]>([
  [
    'a start',
    [
      [listing, 'debug'],
      [whole, 'info'],
    ],
  ],
  [
    'trouble of its own',
    [
      [lost, 'warn'],
      [whole, 'info'],
    ],
  ],
  [
    'an outage',
    [
      [lost, 'debug', 'unreachable'],
      [lost, 'debug'],
      [listing, 'debug'],
      [whole, 'debug'],
      [lost, 'warn'],
      [whole, 'info'],
    ],
  ],
  [
    'another trouble after an outage',
    [
      [lost, 'debug', 'unreachable'],
      [refused, 'warn'],
      [whole, 'info'],
    ],
  ],
])('the levels of %s', (_, told) => {
  const { log, lines } = keptLog();
  const mirrors = new MirrorLog(name, log);
  for (const [sync, , cluster = 'reachable'] of told) mirrors.write({ kind: 'Pod', sync, objects: 1, cluster });
  expect(lines.map(({ level }) => level)).toEqual(told.map(([, level]) => level));
});

test('the lines of one kind do not depend on another kind', () => {
  const { log, lines } = keptLog();
  const mirrors = new MirrorLog(name, log);
  mirrors.write({ kind: 'Pod', sync: lost, objects: 1, cluster: 'unreachable' });
  mirrors.write({ kind: 'Node', sync: whole, objects: 1, cluster: 'reachable' });
  expect(lines.map(({ level }) => level)).toEqual(['debug', 'info']);
});

test.each<['refuses' | 'is silent', number]>([
  ['refuses', 60_000],
  ['is silent', 120_000],
])('a cluster that %s is a line above debug for each of its phases, and none for each of its kinds', async (how, withinMs) => {
  const { log, lines } = keptLog();
  await using gateway = await startGateway({ north: [pod('web')] }, { log });
  const kinds = ['pods', 'services', 'configMaps', 'deployments', 'jobs', 'events', 'secrets', 'ingresses'];
  await gateway.query(`{ ${kinds.map((kind) => `${kind} { totalCount }`).join(' ')} }`);
  const north = gateway.cluster('north');
  const phase = async () => (await gateway.query<{ clusters: { phase: string }[] }>('{ clusters { phase } }')).clusters[0]?.phase;
  const stale = async () => JSON.stringify(await gateway.query(`{ ${kinds.map((kind) => `${kind} { sync { phase } }`).join(' ')} }`));
  lines.splice(0);

  using outage = how === 'refuses' ? north.refuse() : north.silence();
  if (how === 'refuses') north.disconnect();
  await gateway.until(async () => (await phase()) === 'UNREACHABLE', withinMs);
  await gateway.pass(15_000);
  expect(await stale()).not.toContain('SYNCED');
  outage[Symbol.dispose]();
  await gateway.until(async () => (await phase()) === 'SYNCED' && !/STALE|SYNCING|MISSING/.test(await stale()), 120_000);

  const told = lines.filter(({ level, message }) => level !== 'debug' && /^(cluster|mirror)/.test(message));
  expect(told.filter(({ message }) => message.startsWith('mirror'))).toEqual([]);
  expect(told.map(({ fields }) => fields.phase)).toEqual(['UNREACHABLE', 'DEGRADED', 'SYNCED']);
  expect(lines.filter(({ level, message }) => level === 'debug' && message.startsWith('mirror')).length).toBeGreaterThan(kinds.length);
});
