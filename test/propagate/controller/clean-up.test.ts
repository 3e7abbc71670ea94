import { expect, test } from 'vitest';
import { type ControllerWorld, configMap, intent, startControllerWorld } from './controller-world.ts';

const place = (name: string) => ({ namespace: 'default', name });
const south = { clusters: ['south'] };
const settings = ({ world }: ControllerWorld) => world.cluster('south').get('ConfigMap', 'settings', 'default');

test.each(['deleted', 'without it'] as const)(
  'what another Propagation took over stays when the first is %s',
  async (how) => {
    await using fleet = await startControllerWorld({ hub: [], south: [] });
    fleet.startProcess();
    const input = (name: string, more = {}) => intent(name, [configMap('settings', { a: '1' })], { placement: south, ...more });
    await fleet.propagate(input('first'));
    await fleet.phase('first', 'Settled');
    await fleet.propagate(input('second', { conflict: 'OVERWRITE' }));
    await fleet.phase('second', 'Settled');
    const uid = settings(fleet)?.metadata.uid;
    if (how === 'deleted') {
      await fleet.world.pumped(fleet.propagations.delete(fleet.context, place('first'), undefined));
      await fleet.gone('first');
    } else {
      await fleet.propagate(intent('first', [configMap('other', { a: '1' })], { placement: south }));
      await fleet.phase('first', 'Settled');
    }
    await fleet.world.pass(30_000);
    expect(settings(fleet)).toMatchObject({ metadata: { uid, annotations: { 'muster.dev/source': 'default/second' } } });
  },
  60_000,
);
