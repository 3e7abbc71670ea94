import { expect, test } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { startGateway } from '../support/gateway/start-gateway.ts';
import { widget, widgetDefinition } from '../support/workloads.ts';

test('objects that no longer fit their definition give one fault per field, and no line in the log', async () => {
  const lines: unknown[] = [];
  const line = (fields: object, message: string) => void lines.push({ ...fields, message });
  const log: Log = { debug: () => undefined, info: line, warn: line, error: line };
  const spec = { flag: 's3cr3t', size: 's3cr3t', sizes: [1, null, 's3cr3t', 2] };
  const properties = { flag: { type: 'boolean' }, size: { type: 'integer' }, sizes: { type: 'array', items: { type: 'integer' } } };
  await using gateway = await startGateway(
    { north: [widgetDefinition(properties), ...['a', 'b', 'c'].map((name) => widget(name, spec))], south: [] },
    { log },
  );
  const text = '{ exampleWidgets { items { spec { flag size sizes } object } } }';
  const counted = '{ exampleWidgets { totalCount } }';
  await gateway.until(
    async () => (await gateway.ask<{ exampleWidgets: { totalCount: number } }>(counted)).data?.exampleWidgets.totalCount === 3,
  );
  const { data, errors, extensions } = await gateway.ask<{ exampleWidgets: { items: readonly { spec: object; object: object }[] } }>(text);
  expect(errors).toBeUndefined();
  const items = data?.exampleWidgets.items ?? [];
  expect(items.map((item) => item.spec)).toEqual(Array.from({ length: 3 }, () => ({ flag: null, size: null, sizes: [1, 2] })));
  expect(items[0]?.object).toMatchObject({ spec });
  const about = { code: 'MISFIT', cluster: 'north', kind: 'Widget.example.com', retry: 'NEVER' };
  const at = (...rest: readonly (string | number)[]) => ['exampleWidgets', 'items', 0, 'spec', ...rest];
  const expected = (type: string) => expect.stringContaining(`expected ${type}, the stored value has another type`);
  expect(extensions?.faults).toEqual([
    { ...about, path: at('flag'), count: 3, message: expected('Boolean') },
    { ...about, path: at('size'), count: 3, message: expected('Int64') },
    { ...about, path: at('sizes', 1), count: 6, message: expected('Int64') },
  ]);
  expect(JSON.stringify([extensions, lines])).not.toContain('s3cr3t');
  expect(JSON.stringify(lines)).not.toMatch(/a bug|cannot represent/);
});
