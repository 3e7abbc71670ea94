import { expect, test } from 'vitest';
import type { Access, AccessRequest } from '../../../../src/access/access.ts';
import { createActingClients } from '../../../../src/changes/acting-clients.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { keyOfManifest } from '../../../../src/manifests/object-key.ts';
import type { Propagation } from '../../../../src/propagate/model/propagation.ts';
import { parseSpec } from '../../../../src/propagate/model/spec.ts';
import { accessBut } from '../../../support/restricting-access.ts';
import { type PlannerWorldOptions, shown, startPlannerWorld } from '../planner-world.ts';
import { configMap, deployment, entry, shareOf } from '../snapshots.ts';

const requester = { user: 'alice', groups: [], at: '2026-01-01T00:00:00Z' };
const running = (name: string, replicas: number): KubernetesObject => ({
  ...deployment(name, replicas),
  status: { replicas, readyReplicas: replicas },
});
const visibilityOf = (access: Access) => createActingClients({ member: () => undefined, access, accounts: 'many' }).visibility;
const hides = (kind: string, verb: AccessRequest['verb']): Pick<PlannerWorldOptions, 'visibility'> => ({
  visibility: visibilityOf(accessBut((request) => request.kind.kind === kind && request.verb === verb)),
});

const kubefed = {
  placement: { clusters: ['north', 'south'] },
  exact: { system: 'Kubefed' },
  replicas: {
    mode: 'Divided',
    rebalance: false,
    rules: [
      { set: { clusters: ['north'] }, weight: 1 },
      { set: { clusters: ['south'] }, weight: 9 },
    ],
  },
};

/** The replicas of a Deployment with ten replicas, in north and south. */
async function sharesOf(name: string, north: readonly KubernetesObject[], options: PlannerWorldOptions) {
  await using planner = await startPlannerWorld({ hub: [], north, south: [] }, options);
  const plan = await planner.plan({ requester, template: [{ json: deployment(name, 10) }], ...kubefed });
  return ['north', 'south'].map((cluster) => shown(plan, cluster).rendered?.share?.to);
}

test('divides the replicas of a hidden workload as those of an absent one', async () => {
  const hidden = hides('Deployment', 'get');
  expect(await sharesOf('absent', [running('ledger', 4)], hidden)).toEqual([1, 9]);
  expect(await sharesOf('ledger', [running('ledger', 4)], hidden)).toEqual([1, 9]);
});

test('divides replicas without the Pods that the requester may not list', async () => {
  const probe = { ...deployment('probe', 9), status: { replicas: 9, readyReplicas: 0 } };
  const foreign = Array.from({ length: 5 }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `foreign-${index}`, namespace: 'default', labels: { app: 'probe' } },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  })) as unknown as readonly KubernetesObject[];
  const hidden = hides('Pod', 'list');
  const unseen = await sharesOf('probe', [probe, ...foreign], hidden);
  expect(unseen).toEqual(await sharesOf('probe', [probe], hidden));
  expect(unseen).not.toEqual(await sharesOf('probe', [probe, ...foreign], {}));
});

test('notes no autoscaler that the requester may not list', async () => {
  const autoscaler: KubernetesObject = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'any', namespace: 'default' },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 9 },
  };
  const codes = async (options: PlannerWorldOptions) => {
    await using planner = await startPlannerWorld({ hub: [], south: [autoscaler] }, options);
    return (await planner.plan({ requester, template: [{ json: deployment('web', 2) }] })).notes.map(({ code }) => code);
  };

  expect(await codes(hides('HorizontalPodAutoscaler', 'get'))).toEqual(['AUTOSCALED']);
  expect(await codes(hides('HorizontalPodAutoscaler', 'list'))).toEqual([]);
});

test('checks the rights to absent objects as those to existing ones', async () => {
  const asked: AccessRequest[] = [];
  const isAboutMaps = ({ kind }: AccessRequest) => kind.kind === 'ConfigMap';
  const access = accessBut((request) => {
    if (isAboutMaps(request)) asked.push(request);
    return false;
  });
  const unanswered: Access = {
    ...access,
    visibilityOf: (request) =>
      isAboutMaps(request)
        ? { type: 'none', fault: { code: 'UNREACHABLE', cluster: request.cluster, message: 'no answer', retry: 'LATER' } }
        : { type: 'all' },
  };
  const objects = { hub: [], south: [configMap('there')] };
  await using planner = await startPlannerWorld(objects, { visibility: visibilityOf(access) });
  const placement = { clusters: ['south'] };
  const planned = (name: string) => ({ requester, template: [{ json: configMap(name) }], placement });
  await planner.plan(planned('there'));
  const forExisting = asked.splice(0).map(({ verb, namespaces }) => [verb, namespaces]);
  await planner.plan(planned('absent'));

  expect(asked.map(({ verb, namespaces }) => [verb, namespaces])).toEqual(forExisting);
  await using silent = await startPlannerWorld(objects, { visibility: visibilityOf(unanswered) });
  const faultOf = async (name: string) => shown(await silent.plan(planned(name)), 'south').fault?.code;
  expect(await faultOf('there')).toBe('UNREACHABLE');
  expect(await faultOf('absent')).toBe('UNREACHABLE');
});

test('hides an object that has the name of a copy that was never written, and of one that another owner made since', async () => {
  const objects = { hub: [], south: [{ ...configMap('there'), data: { secret: 'bank' } }] };
  const known = configMap('there');
  for (const entryOf of [entry(known, { state: 'Intended' }), entry(known, { uid: 'another' })]) {
    await using planner = await startPlannerWorld(objects, hides('ConfigMap', 'get'));
    const request = planner.request(
      { requester, template: [{ json: configMap('there') }], placement: { clusters: ['south'] } },
      { shares: [shareOf('south', [entryOf])], existing: { uid: 'web', status: {} } },
    );
    const { clusters } = await planner.world.pumped(planner.planner.render(request));
    expect(clusters[0]?.objects.map(({ action, live }) => [action, live])).toEqual([['CREATE', undefined]]);
  }
});

test('a circle does not name a Propagation that the requester may not get', async () => {
  const source = configMap('settings');
  const template = [{ ref: { cluster: 'south', ...keyOfManifest(source) } }];
  const spec = parseSpec(JSON.parse(JSON.stringify({ template, placement: {} })));
  const maker = { metadata: { namespace: 'bank', name: 'secret-project', uid: 'm' }, spec } as unknown as Propagation;
  const records = { propagations: { all: () => [maker] }, shares: { read: () => shareOf('north', [entry(source, { uid: 'copy' })]) } };
  const told = async (options: PlannerWorldOptions) => {
    await using planner = await startPlannerWorld({ hub: [], north: [source], south: [] }, { ...options, records });
    const from = [{ ref: { cluster: 'north', ...keyOfManifest(source) } }];
    const plan = await planner.plan({ requester, template: from, placement: { clusters: ['south'] } });
    return plan.notes.flatMap(({ code, message }) => (code === 'CIRCLE' ? [message] : []));
  };

  expect(await told({})).toEqual([expect.stringContaining('Propagation bank/secret-project makes the source from it')]);
  expect(await told(hides('Propagation', 'get'))).toEqual([expect.stringContaining('another Propagation makes the source from it')]);
});
