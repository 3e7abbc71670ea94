import { expect, test } from 'vitest';
import { textAt } from '../../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { marks } from '../../../../src/propagate/model/propagation.ts';
import { type ControllerWorld, configMap, intent, startControllerWorld } from '../controller-world.ts';

const place = { namespace: 'default', name: 'web' };
const input = (value: string) => intent('web', [configMap('web', { a: value })], { placement: { clusters: ['south'] } });
const copyIn = (fleet: ControllerWorld) => fleet.world.cluster('south').get('ConfigMap', 'web', 'default');
const generationOf = (fleet: ControllerWorld) => copyIn(fleet)?.metadata.annotations?.[marks.generation];
const lineOf = (fleet: ControllerWorld) => fleet.mirrored('web')?.status.clusters?.find(({ cluster }) => cluster === 'south');

/** Annotates like `kubectl annotate --overwrite`: another manager then owns the annotation. */
function annotate(fleet: ControllerWorld, generation: string): void {
  const copy = copyIn(fleet);
  if (copy === undefined) throw new Error('expected a copy');
  const annotations = { ...copy.metadata.annotations, [marks.generation]: generation };
  fleet.world.cluster('south').put({ ...copy, metadata: { ...copy.metadata, annotations } });
}

test('corrects a generation that another manager wrote on a copy as drift', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  fleet.startProcess();
  await fleet.propagate(input('1'));
  await fleet.phase('web', 'Settled');
  annotate(fleet, '999');
  expect(generationOf(fleet)).toBe('999');
  await fleet.world.until(() => generationOf(fleet) === '1', 30_000);
}, 60_000);

test('corrects a label of another intent on an adopted copy as drift, and still deletes the copy', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [configMap('web', { a: '1' }) as KubernetesObject] });
  const first = fleet.startProcess();
  await fleet.propagate({ ...input('1'), conflict: 'ADOPT' });
  await fleet.phase('web', 'Settled');
  const labelled = copyIn(fleet)?.metadata.labels;
  const label = () => {
    const copy = copyIn(fleet);
    if (copy === undefined) throw new Error('expected a copy');
    const metadata = { ...copy.metadata, labels: { [marks.propagation]: 'another' } };
    fleet.world.cluster('south').put({ ...copy, metadata });
  };
  label();
  await fleet.world.until(() => copyIn(fleet)?.metadata.labels?.[marks.propagation] !== 'another', 30_000);
  expect(copyIn(fleet)?.metadata.labels).toEqual(labelled);
  await fleet.phase('web', 'Settled');
  await first.stop();
  label();
  await fleet.world.pumped(fleet.propagations.delete(fleet.context, place, undefined));
  fleet.startProcess();
  await fleet.gone('web');
  expect(copyIn(fleet)).toBeUndefined();
}, 60_000);

test('it delays neither the next generation nor a deletion', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] });
  const first = fleet.startProcess();
  await fleet.propagate(input('1'));
  await fleet.phase('web', 'Settled');
  await first.stop();
  annotate(fleet, '999');
  await fleet.propagate(input('2'));
  const second = fleet.startProcess();
  await fleet.world.until(() => textAt(copyIn(fleet), 'data', 'a') === '2', 30_000);
  await fleet.phase('web', 'Settled');
  await second.stop();
  annotate(fleet, '999');
  await fleet.world.pumped(fleet.propagations.delete(fleet.context, place, undefined));
  fleet.startProcess();
  await fleet.gone('web');
  expect(copyIn(fleet)).toBeUndefined();
}, 60_000);

test.each([
  {
    policy: 'a webhook',
    status: 403,
    message: 'admission webhook "guard.example.com" denied the request: keep it',
    named: 'admission webhook "guard.example.com"',
  },
  {
    policy: 'a ValidatingAdmissionPolicy',
    status: 422,
    message: `configmaps "web" is forbidden: ValidatingAdmissionPolicy 'keep' with binding 'keep-all' denied request: no`,
    named: "ValidatingAdmissionPolicy 'keep'",
  },
])(
  'reports a deletion that $policy refuses as DENIED with its name, and retries it within a minute',
  async ({ status, message, named }) => {
    await using fleet = await startControllerWorld({ hub: [], south: [] });
    fleet.startProcess();
    await fleet.propagate(input('1'));
    await fleet.phase('web', 'Settled');
    const reason = status === 403 ? 'Forbidden' : 'Invalid';
    const body = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      reason,
      code: status,
      message,
      details: { name: 'web', causes: [{ message }] },
    };
    const refusal = fleet.world
      .cluster('south')
      .answer({ status, body, times: Number.POSITIVE_INFINITY }, { resource: 'configmaps', verb: 'delete' });
    await fleet.world.pumped(fleet.propagations.delete(fleet.context, place, undefined));
    await fleet.world.until(() => lineOf(fleet)?.reason === 'Denied');
    expect(lineOf(fleet)?.message).toContain(named);
    expect(lineOf(fleet)?.message).toContain('resumePropagation');
    await fleet.world.pass(120_000);
    refusal[Symbol.dispose]();
    await fleet.gone('web', 61_000);
    expect(copyIn(fleet)).toBeUndefined();
  },
  60_000,
);
