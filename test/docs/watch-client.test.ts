import vm from 'node:vm';
import { type Client, createClient } from 'graphql-ws';
import { expect, test } from 'vitest';
import { blocksOf } from '../support/documentation.ts';
import type { TestGateway } from '../support/gateway/start-gateway.ts';
import { startGateway } from '../support/gateway/start-gateway.ts';
import { pod } from '../support/workloads.ts';

// Runs the client of the section "Keep a copy" of docs/guide/watch.md over the client of graphql-ws. Its code is taken from the page.

interface Held {
  readonly cluster: { readonly name: string };
  readonly metadata: { readonly name: string };
  readonly status: { readonly phase: string };
}

type Follow = (
  client: Client,
  operation: { readonly query: string; readonly variables: Record<string, unknown> },
  held: Map<string, Held>,
) => Promise<void>;

const shown = (language: string, part: string) =>
  blocksOf(['docs/guide/watch.md']).find((block) => block.language === language && block.text.includes(part))?.text ?? '';
const code = shown('js', 'function follow(');
const query = shown('graphql', 'pods(namespaces: "shop", labels: "app=checkout", after: $after)');

test('the client of the page has at most 15 lines', () => {
  expect(code.trim().split('\n').length).toBeLessThanOrEqual(15);
});

/** Runs the client of the page, and again each time it ends, as the page requires. */
class Follower implements Disposable {
  readonly held = new Map<string, Held>();
  readonly variables: Record<string, unknown> = {};
  #client: Client | undefined;
  error: unknown;

  start({ url }: TestGateway): void {
    this.error = undefined;
    const follow = vm.runInThisContext(`(${code.slice(code.indexOf('async function'))})`) as Follow;
    this.#client = createClient({ url: url.replace('http', 'ws'), retryAttempts: 0 });
    follow(this.#client, { query, variables: this.variables }, this.held).catch((error: unknown) => {
      this.error = error;
    });
  }

  /** Breaks the connection. */
  cut(): void {
    this.#client?.terminate();
  }

  contents(): readonly string[] {
    return [...this.held.values()].map(({ cluster, metadata, status }) => `${cluster.name}/${metadata.name} ${status.phase}`).toSorted();
  }

  [Symbol.dispose](): void {
    this.cut();
    this.#client?.dispose();
  }
}

const checkout = (name: string, phase = 'Running', labels = { app: 'checkout' }) => ({
  ...pod(name, { namespace: 'shop', labels }),
  status: { phase },
});

/** Returns the Pods of the clusters that match the client's filter. */
function truth(gateway: TestGateway, names: readonly string[]): readonly string[] {
  const found = names.flatMap((name) =>
    gateway
      .cluster(name)
      .objects('Pod')
      .filter(({ metadata }) => metadata.namespace === 'shop' && metadata.labels?.app === 'checkout')
      .map(({ metadata, status }) => `${name}/${metadata.name} ${(status as { readonly phase: string }).phase}`),
  );
  return found.toSorted();
}

function untilTrue(gateway: TestGateway, follower: Follower, names: readonly string[]): Promise<void> {
  return gateway.until(() => {
    if (follower.error !== undefined) throw follower.error;
    return follower.contents().join() === truth(gateway, names).join();
  });
}

test('the client of the page holds the objects of the clusters, through changes, a broken connection, a restart, and a cluster that leaves', async () => {
  await using gateway = await startGateway({ north: [checkout('a'), checkout('b')], south: [checkout('c'), pod('other')] });
  using follower = new Follower();
  follower.start(gateway);
  const [north, south] = [gateway.cluster('north'), gateway.cluster('south')];
  const both = ['north', 'south'];
  await untilTrue(gateway, follower, both);
  expect(follower.contents()).toEqual(['north/a Running', 'north/b Running', 'south/c Running']);

  north.put(checkout('a', 'Succeeded'));
  north.remove('Pod', 'b', 'shop');
  south.put(checkout('c', 'Running', { app: 'retired' }));
  south.put(checkout('d', 'Pending'));
  await untilTrue(gateway, follower, both);
  expect(follower.contents()).toEqual(['north/a Succeeded', 'south/d Pending']);

  follower.cut();
  await gateway.until(() => follower.error !== undefined);
  north.remove('Pod', 'a', 'shop');
  south.put(checkout('d', 'Running'));
  follower.start(gateway);
  await untilTrue(gateway, follower, both);

  await gateway.restart();
  south.remove('Pod', 'd', 'shop');
  north.put(checkout('e'));
  follower.start(gateway);
  await untilTrue(gateway, follower, both);
  expect(follower.contents()).toEqual(['north/e Running']);

  south.put(checkout('f'));
  await untilTrue(gateway, follower, both);
  await gateway.setMembers(['north']);
  await untilTrue(gateway, follower, ['north']);
  expect(follower.contents()).toEqual(['north/e Running']);
});
