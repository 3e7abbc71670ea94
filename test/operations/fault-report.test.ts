import { expect, test } from 'vitest';
import type { Fault, FaultCode } from '../../src/core/faults.ts';
import { clusterName } from '../../src/core/names.ts';
import { OperationFaults } from '../../src/operations/fault-report.ts';

const faultOf = (code: FaultCode, message: string, cluster = 'north'): Fault => ({
  code,
  cluster: clusterName(cluster),
  message,
  retry: 'LATER',
});

test('misfit values push out no other fault, however many fields have one', () => {
  const report = new OperationFaults();
  for (let n = 0; n < 150; n++) report.add(faultOf('MISFIT', `Thing.field${n}: expected Boolean`), ['things', n]);
  report.add(faultOf('UNREACHABLE', 'the API server refused the connection'), ['pod']);
  const entries = report.reported() ?? [];
  expect(entries.length).toBe(101);
  expect(entries.at(-1)).toMatchObject({ code: 'UNREACHABLE', path: ['pod'], count: 1 });
});

test('other faults push out no misfit value, and each type has at most 100 entries', () => {
  const report = new OperationFaults();
  for (let n = 0; n < 150; n++) report.add(faultOf('UNREACHABLE', 'the API server refused the connection', `c${n}`), ['pod']);
  for (let n = 0; n < 150; n++) report.add(faultOf('MISFIT', `Thing.field${n}: expected Boolean`), ['things', n]);
  const codes = (report.reported() ?? []).map(({ code }) => code);
  expect([codes.filter((code) => code === 'MISFIT').length, codes.length]).toEqual([100, 200]);
});
