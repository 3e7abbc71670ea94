import type { TestGateway } from './start-gateway.ts';

/** One line of text that identifies an object and its state. */
type Identity = string;

const query = `query ($after: String) {
  pods(first: 500, after: $after, waitSeconds: 0) {
    items { cluster { name } metadata { namespace name uid resourceVersion } }
    pageInfo { hasNextPage endCursor }
    faults { code }
  }
}`;

interface Page {
  readonly pods: {
    readonly items: readonly {
      readonly cluster: { readonly name: string };
      readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string; readonly resourceVersion: string };
    }[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    readonly faults: readonly { readonly code: string }[];
  };
}

/** Returns the pods of a GraphQL query: names, uids and versions, sorted. */
export async function podsInGraph(gateway: TestGateway): Promise<Identity[]> {
  const found: Identity[] = [];
  let after: string | null = null;
  do {
    const { pods }: Page = await gateway.query<Page>(query, { after });
    for (const { cluster, metadata } of pods.items) {
      found.push(`${cluster.name}/${metadata.namespace}/${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`);
    }
    if (pods.pageInfo.hasNextPage && pods.items.length === 0) throw new Error('expected objects on a page that is not the last');
    if (found.length > 100_000) throw new Error('expected the pages to end');
    after = pods.pageInfo.hasNextPage ? pods.pageInfo.endCursor : null;
  } while (after !== null);
  return found.toSorted();
}

/** Returns the pods of the clusters themselves. */
function podsInClusters(gateway: TestGateway, names: readonly string[]): Identity[] {
  return names
    .flatMap((name) =>
      gateway
        .cluster(name)
        .objects('Pod')
        .map(({ metadata }) => `${name}/${metadata.namespace}/${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`),
    )
    .toSorted();
}

/**
 * Waits, in the time of the gateway, until it answers with the objects of the clusters and without faults.
 *
 * @throws {Error} if that takes longer than `withinMs`.
 */
export async function untilEqual(gateway: TestGateway, names: readonly string[], withinMs = 180_000): Promise<void> {
  await gateway.until(async () => {
    const { pods } = await gateway.query<Page>(query, { after: null });
    if (pods.faults.length > 0) return false;
    return (await podsInGraph(gateway)).join('\n') === podsInClusters(gateway, names).join('\n');
  }, withinMs);
}
