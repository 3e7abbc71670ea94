import { describe, expect, test, vi } from 'vitest';
import { discover } from '../../src/cluster/discovery.ts';
import { loadKubeconfig } from '../../src/cluster/kubeconfig/kubeconfig.ts';
import { silentLog } from '../../src/core/log.ts';
import { createKindDescriptions } from '../../src/load/catalog/kind-descriptions.ts';
import { createDocumentFetcher } from '../../src/load/catalog/unknown-kinds.ts';
import { realPrograms, realServerTitle, startRealCluster } from '../support/cluster/real-cluster.ts';
import { connect, never } from '../support/cluster/transport.ts';
import { createFakeMirrors } from '../support/graph/fake-mirrors.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';
import { createManualClock } from '../support/manual-clock.ts';

describe.skipIf(realPrograms === undefined)(`the descriptions of ${realServerTitle}`, () => {
  test('describe nearly all of the model, in first sentences', async () => {
    await using cluster = await startRealCluster();
    const kubeconfig = await loadKubeconfig({ file: cluster.kubeconfigPath, environment: {} });
    const [context] = kubeconfig?.contexts ?? [];
    if (context?.result !== 'usable') throw new Error('expected a usable context');
    const { api } = connect(context.endpoint);
    const discovered = await discover(api, {}, never);
    if (discovered.type !== 'discovered') throw new Error('expected discovery');
    const [baseline, clock, ending] = [loadBaseline(), createManualClock(), new AbortController()];
    const mirrors = createFakeMirrors(clock);
    mirrors.join('real').discover(...discovered.resources);
    let isDescribed = false;
    const onDescribed = () => {
      isDescribed = true;
    };
    const fetchDocument = createDocumentFetcher(() => api);
    const options = { mirrors, baseline, fetchDocument, clock, log: silentLog, onDescribed };
    const descriptions = createKindDescriptions(options, ending.signal);
    descriptions.begin();
    await clock.advance(3_000);
    await vi.waitUntil(() => isDescribed, 30_000);
    ending.abort();
    const fields = [...baseline.types.values()].flatMap(({ name, fields }) =>
      fields.map(({ key }) => descriptions.now().get(name)?.fields.get(key)),
    );
    const said = fields.filter((text) => text !== undefined);
    expect(said.length / fields.length).toBeGreaterThan(0.9);
    expect(said.join('').length).toBeLessThan(400_000);
    expect(descriptions.now().get('PodSpec')?.fields.get('nodeName')).toMatch(/^NodeName .*node.*\.$/);
    expect(descriptions.now().get('CrossVersionObjectReference')?.description).toMatch(/\.$/);
  });
});
