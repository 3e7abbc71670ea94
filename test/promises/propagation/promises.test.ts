import { afterAll, beforeAll, describe, test } from 'vitest';
import { type FleetGround, fleetKinds } from '../../support/propagate/writing-fleet.ts';
import { crashPromises } from './crash-cases.ts';
import type { DeclarePromise } from './declare-promise.ts';
import { failingClusterPromises } from './failing-cluster-cases.ts';
import { foreignObjectPromises } from './foreign-objects-cases.ts';

/**
 * The tests of each promise of writing (docs/promises.md D). The files in this folder test them as a client of GraphQL sees them. Where
 * it is cheap, other files enumerate all cases:
 *
 * | promise | through the gateway | enumerated |
 * |---|---|---|
 * | D1, D2 | crash-cases | test/propagate/controller/failures/crashes, test/propagate/apply/crash (real servers too) |
 * | D3, D4 | mid-flight | test/propagate/controller/failures/crashes, lease |
 * | D5, D15 | failing-cluster-cases, mid-flight | test/propagate/apply/refusals |
 * | D6 to D9, D13 | foreign-objects-cases | test/propagate/apply/guards, prune |
 * | D10 | foreign-objects-cases, nothing-pruned-by-mistake | test/propagate/apply/prune (the race itself, real servers too) |
 * | D11, D12, D18 | nothing-pruned-by-mistake | test/propagate/controller/lost-and-held |
 * | D14 | mid-flight | test/propagate/controller/lost-and-held |
 * | D16, D17, A6 to A13 | refused-before-any-cluster, rights (D17, real servers too) | test/manifests, test/propagate/model |
 */
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
