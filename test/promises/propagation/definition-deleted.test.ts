import { describe, expect, test } from 'vitest';
import { hubDefinitions } from '../../../src/propagate/hub/hub-definitions.ts';
import { configMapOf, dataIn, intentOf, phaseOf, propagated, stateWhere, told } from '../../support/propagate/propagating.ts';
import { fleetKinds } from '../../support/propagate/writing-fleet.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

// A real API server deletes the objects of a definition itself. No other test can use the fleet afterwards.
for (const kind of fleetKinds.filter(({ title }) => title.includes('real'))) {
  describe.skipIf(!kind.available)(kind.title, () => {
    test('kubectl delete crd propagations.muster.dev deletes no copy until it is confirmed', { timeout: 120_000 }, async () => {
      await using ground = await kind.open();
      await using fleet = await ground.start();
      const data = { a: '1' };
      await propagated(fleet, intentOf(fleet, 'web', [configMapOf(fleet, 'settings', data)]));
      await phaseOf(fleet, 'web', 'SETTLED');
      const [hub = ''] = fleet.names;
      await fleet.send(hub, 'DELETE', `${definitions}/propagations.muster.dev`);
      const held = await stateWhere(fleet, 'web', ({ phase }) => phase === 'HELD');
      expect(held.clusters.map(({ reason }) => reason)).toEqual(['PRUNE_HELD', 'PRUNE_HELD', 'PRUNE_HELD']);
      await fleet.pass(3_000);
      expect(await dataIn(fleet, 'settings')).toEqual([data, data, data]);
      expect((await told(fleet, 'resume', 'web', 'confirmPrune: true')).result).toBe('ACCEPTED');
      await fleet.until(async () => (await dataIn(fleet, 'settings')).every((one) => one === undefined));
      await fleet.until(async () => (await fleet.send(hub, 'GET', `${definitions}/propagations.muster.dev`)).status === 404);
      // The end of the fleet lists Propagations, so their definition is restored.
      const [propagations = null] = await hubDefinitions();
      await fleet.send(hub, 'POST', definitions, { body: propagations });
      await fleet.until(async () => (await fleet.send(hub, 'GET', '/apis/muster.dev/v1alpha1/propagations')).status === 200);
    });
  });
}
