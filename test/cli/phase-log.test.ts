import { expect, test } from 'vitest';
import { createPhaseLog } from '../../src/cli/phase-log.ts';
import type { Fault } from '../../src/core/faults.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import { clusterName } from '../../src/core/names.ts';

const north = clusterName('north');
const pods = { group: '', kind: 'Pod' };
const faultOf = (code: Fault['code']): Fault => ({ code, cluster: north, message: `it is ${code}`, retry: 'LATER' });

function phaseLog() {
  const lines: string[] = [];
  const write =
    (level: string): Log['info'] =>
    (fields, message) =>
      lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  return { lines, log: createPhaseLog({ ...silentLog, info: write('info'), warn: write('warn') }) };
}

test('has a line for each change of a phase or its faults, and none for the same again', () => {
  const { lines, log } = phaseLog();
  log.saw({ cluster: north, phase: 'SYNCED', faults: [] });
  log.saw({ cluster: north, phase: 'SYNCED', faults: [] });
  log.saw({ cluster: north, kind: pods, phase: 'SYNCING', faults: [faultOf('SYNCING')] });
  log.saw({ cluster: north, kind: pods, phase: 'SYNCED', faults: [], objects: 3 });
  log.saw({ cluster: north, kind: pods, phase: 'SYNCED', faults: [], objects: 4 });
  log.saw({ cluster: north, phase: 'UNREACHABLE', faults: [faultOf('UNREACHABLE')] });
  log.saw({ cluster: north, phase: 'UNREACHABLE', faults: [faultOf('UNREACHABLE'), faultOf('INSECURE')] });
  expect(lines).toEqual([
    'info a cluster has changed its phase {"cluster":"north","phase":"SYNCED"}',
    'info a mirror has changed its phase {"cluster":"north","kind":"Pod","phase":"SYNCING"}',
    'info a mirror has changed its phase {"cluster":"north","kind":"Pod","phase":"SYNCED","objects":3}',
    'warn a cluster has changed its phase {"cluster":"north","phase":"UNREACHABLE","fault":"UNREACHABLE","problem":"it is UNREACHABLE"}',
    'warn a cluster has changed its phase {"cluster":"north","phase":"UNREACHABLE","fault":["UNREACHABLE","INSECURE"],"problem":"it is UNREACHABLE"}',
  ]);
});

test('forgets a cluster that has left', () => {
  const { lines, log } = phaseLog();
  log.left(north);
  log.saw({ cluster: north, phase: 'SYNCED', faults: [] });
  log.left(north);
  log.saw({ cluster: north, phase: 'SYNCED', faults: [] });
  expect(lines.map((line) => line.split(' {')[0])).toEqual([
    'info a cluster has changed its phase',
    'info a cluster has left',
    'info a cluster has changed its phase',
  ]);
});
