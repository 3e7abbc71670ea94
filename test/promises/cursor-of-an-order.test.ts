import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway/start-gateway.ts';
import { widget, widgetDefinition } from '../support/workloads.ts';

// A page continues the one before or is refused. A cursor has values, and values of another type have another order.

interface Page {
  readonly exampleWidgets: { readonly pageInfo: { readonly endCursor: string } };
}

test('a cursor is refused after the type that the list is ordered by has changed', async () => {
  const widgets = [widget('a', { size: 1 }), widget('b', { size: 10 }), widget('c', { size: 9 })];
  await using gateway = await startGateway({ north: [widgetDefinition({ size: { type: 'integer' } }), ...widgets] });
  const page =
    'query ($after: String) { exampleWidgets(first: 1, after: $after, orderBy: [{ path: "spec.size" }]) { pageInfo { endCursor } } }';
  await gateway.until(async () => (await gateway.ask(page)).errors === undefined, 5_000);
  const { endCursor: after } = (await gateway.query<Page>(page)).exampleWidgets.pageInfo;
  expect((await gateway.ask(page, { after })).errors).toBeUndefined();
  const typeOf = async () => JSON.stringify(await gateway.query('{ __type(name: "ExampleWidgetSpec") { fields { type { name } } } }'));
  const before = await typeOf();
  gateway.cluster('north').define(widgetDefinition({ size: { type: 'string' } }));
  await gateway.until(async () => (await typeOf()) !== before);
  const [error] = (await gateway.ask(page, { after })).errors ?? [];
  expect(error?.extensions.code).toBe('BAD_INPUT');
  expect(error?.message).toContain('expected a cursor');
});
