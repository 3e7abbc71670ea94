import { expect, test } from 'vitest';
import { textAt } from '../../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { type ControllerWorld, configMap, intent, startControllerWorld } from '../controller-world.ts';

const copyIn = (fleet: ControllerWorld) => fleet.world.cluster('south').get('ConfigMap', 'web', 'default');

test.each<{ readonly how: string; readonly change: (fleet: ControllerWorld, copy: KubernetesObject) => void }>([
  { how: 'deleted', change: (fleet) => void fleet.world.cluster('south').remove('ConfigMap', 'web', 'default') },
  { how: 'changed', change: (fleet, copy) => void fleet.world.cluster('south').put({ ...copy, data: { a: 'theirs' } }) },
])(
  'a copy that is $how right after our own write is restored at once',
  async ({ change }) => {
    await using fleet = await startControllerWorld({ hub: [], south: [] });
    fleet.startProcess();
    await fleet.propagate(intent('web', [configMap('web', { a: '1' })], { placement: { clusters: ['south'] } }));
    for (const wait of [0, 300, 600]) {
      await fleet.world.until(() => textAt(copyIn(fleet), 'data', 'a') === '1');
      await fleet.world.pass(wait);
      const copy = copyIn(fleet);
      if (copy === undefined) throw new Error('expected a copy');
      change(fleet, copy);
      expect(textAt(copyIn(fleet), 'data', 'a')).not.toBe('1');
      await fleet.world.until(() => textAt(copyIn(fleet), 'data', 'a') === '1', 3_000);
    }
  },
  60_000,
);
