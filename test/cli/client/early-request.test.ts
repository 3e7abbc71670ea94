import { Command } from 'commander';
import { expect, test } from 'vitest';
import { withEarlyRequest } from '../../../src/cli/client/gateway-client.ts';
import type { CommandParts } from '../../../src/cli/command-table.ts';
import { addListCommand } from '../../../src/cli/commands/list.ts';
import { createCliSession } from '../../support/cli/cli-session.ts';

test('an early request is sent at once, and its answer is that of the first request like it', async () => {
  let count = 0;
  const session = createCliSession({ answer: () => ({ count: ++count }) });
  const gateway = withEarlyRequest(session.gateway, { query: '{ a }', variables: { x: 1 } });
  expect(session.asked).toEqual([{ query: '{ a }', variables: { x: 1 } }]);
  expect(await gateway.send({ query: '{ a }', variables: { x: 2 } })).toEqual({ data: { count: 2 } });
  expect(await gateway.send({ query: '{ a }', variables: { x: 1 } })).toEqual({ data: { count: 1 } });
  expect(await gateway.send({ query: '{ a }', variables: { x: 1 } })).toEqual({ data: { count: 3 } });
});

/** Runs `muster list` against a gateway that knows the kinds. Returns the requests in order. */
async function requestsOf(words: readonly string[], kind: object) {
  const cluster = { name: 'north' };
  const page = {
    items: [],
    pageInfo: { hasNextPage: false, endCursor: null },
    faults: [],
    sync: [{ phase: 'SYNCED', cluster, fault: null, kind }],
  };
  const session = createCliSession({ answer: () => ({ resources: page }) });
  const run: CommandParts['run'] = async (_, command) => void (await command(session));
  const program = new Command();
  addListCommand(program, run);
  await program.parseAsync(['list', ...words], { from: 'user' });
  return session.asked.map(({ query, variables }) => ({ isList: query.includes('items {'), kinds: variables?.kinds }));
}

const ingress = { group: 'networking.k8s.io', kind: 'Ingress', plural: 'ingresses', type: 'Ingress', namespaced: true, source: 'BUILT_IN' };
const metrics = { group: 'metrics.k8s.io', kind: 'PodMetrics', plural: 'pods', type: 'PodMetrics', namespaced: true, source: 'CUSTOM' };

test.each(['ingresses', 'ingress', 'Ingress'])(
  'list sends the request for %s before it knows the kind, and no second one',
  async (word) => {
    expect(await requestsOf([word], ingress)).toEqual([
      { isList: true, kinds: ['Ingress.networking.k8s.io'] },
      { isList: false, kinds: [word] },
    ]);
    expect(
      await requestsOf([word, '-n', 'shop', '-l', 'app=web', '-o', 'wide', '--sort-by', 'metadata.name', '--show-labels'], ingress),
    ).toHaveLength(2);
  },
);

test('list sends another request if the word means another kind than the built-in one', async () => {
  const requests = await requestsOf(['pods', '-o', 'wide'], { ...metrics, source: 'BUILT_IN' });
  expect(requests).toEqual([
    { isList: true, kinds: ['Pod.core'] },
    { isList: false, kinds: ['pods'] },
    { isList: true, kinds: ['PodMetrics.metrics.k8s.io'] },
  ]);
});

test.each([['web'], ['-o', 'json'], ['--where', 'spec.x=1']])('list %s sends no request before it knows the kind', async (...more) => {
  expect((await requestsOf(['ingresses', ...more], ingress))[0]).toEqual({ isList: false, kinds: ['ingresses'] });
});
