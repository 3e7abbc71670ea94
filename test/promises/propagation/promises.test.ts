import { afterAll, beforeAll, describe, test } from 'vitest';
import { type FleetGround, fleetKinds } from '../../support/writing-fleet.ts';
import { crashPromises } from './crash-cases.ts';
import type { DeclarePromise } from './declare-promise.ts';
import { failingClusterPromises } from './failing-cluster-cases.ts';
import { foreignObjectPromises } from './foreign-objects-cases.ts';

for (const kind of fleetKinds) {
  describe.skipIf(!kind.available)(kind.title, () => {
    let ground: FleetGround;
    beforeAll(async () => {
      ground = await kind.open();
    });
    afterAll(() => ground[Symbol.asyncDispose]());

    const declare: DeclarePromise = (name, run) =>
      test(name, { timeout: 60_000 }, async () => {
        await using fleet = await ground.start();
        await run(fleet);
      });

    describe('a crash costs time only', () => crashPromises(declare, kind.crashes));
    describe('nothing foreign is touched', () => foreignObjectPromises(declare));
    describe('one cluster stops no other', () => failingClusterPromises(declare));
  });
}
