import { expect, test } from 'vitest';
import { stylesOf } from '../../../src/cli/output/cell-style.ts';

const paint = (code: number, text: string) => `${code}(${text})`;

test.each([
  ['STATUS', 'Running', '32(Running)'],
  ['STATUS', 'Bound', '32(Bound)'],
  ['STATUS', 'Ready,SchedulingDisabled', '33(Ready,SchedulingDisabled)'],
  ['STATUS', 'NotReady', '31(NotReady)'],
  ['STATUS', 'CrashLoopBackOff', '31(CrashLoopBackOff)'],
  ['STATUS', 'Init:Error', '31(Init:Error)'],
  ['STATUS', 'ContainerCreating', '33(ContainerCreating)'],
  ['READY', '1/2', '33(1/2)'],
  ['READY', '2/2', '2/2'],
  ['READY', '5', '5'],
  ['TYPE', 'Warning', '33(Warning)'],
  ['TYPE', 'ClusterIP', 'ClusterIP'],
  ['NAME', 'Running', 'Running'],
])('the cell %s %s is %s', (header, cell, shown) => {
  expect(stylesOf([header], [[cell]], paint)(cell, { row: 0, column: 0 })).toBe(shown);
});

test('headers are bold', () => {
  expect(stylesOf(['STATUS'], [], paint)('STATUS', { row: -1, column: 0 })).toBe('1(STATUS)');
});
