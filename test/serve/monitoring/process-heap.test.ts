import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';

const source = path.join(import.meta.dirname, '../../../src/serve/monitoring/process-heap.ts');

test('C6: the gauge counts live objects in a small heap, and no garbage', () => {
  const program = `
    import { measureProcessHeap } from ${JSON.stringify(source)};
    const gauge = measureProcessHeap(new AbortController().signal);
    const until = async (isSo) => { while (!isSo()) { hold(); await new Promise(setImmediate); } };
    let held = [];
    let hold = () => held.push(Array(50_000).fill(0.5 + held.length));
    const before = gauge.used();
    await until(() => gauge.used() >= 0.8);
    held = [];
    hold = () => Array(50_000).fill(0.5);
    await until(() => gauge.used() < 0.3);
    console.log(JSON.stringify({ before }));
    process.exit(0);
  `;
  const printed = execFileSync(process.execPath, ['--max-old-space-size=512', '--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(JSON.parse(printed)).toEqual({ before: 0 });
});
