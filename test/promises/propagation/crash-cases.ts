import { expect } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import {
  configMapOf,
  dataIn,
  intentOf,
  objectAt,
  type PropagationSeen,
  propagate,
  stateOf,
  stateWhere,
} from '../../support/propagate/propagating.ts';
import type { FleetKind, WritingFleet } from '../../support/propagate/writing-fleet.ts';
import type { DeclarePromise } from './declare-promise.ts';

/** Crashes in the middle of the work, D1 and D2, as a client of GraphQL and the clusters sees them. */
export function crashPromises(declare: DeclarePromise, crashes: FleetKind['crashes']): void {
  declare('D1, D2: killed after any write, the next process brings it to the same end; each Job is made once', async (fleet) => {
    const before = fleet.written();
    await propagate(fleet, jobAndSettings(fleet, 'whole'));
    const whole = await endOf(fleet, 'whole');
    const total = fleet.written() - before;
    expect(total).toBeGreaterThan(9);
    const lives = crashes === 'each' ? Array.from({ length: total }, (_, index) => index + 1) : crashes;
    for (const life of lives) {
      const name = `life-${life}`;
      const asked = propagate(fleet, jobAndSettings(fleet, name)).catch(() => undefined);
      await fleet.dieAfter(life);
      await fleet.restart();
      // The client may not have received an answer. The first write is the intent itself.
      await asked;
      expect({ life, ...(await endOf(fleet, name)) }).toEqual({ life, ...whole });
    }
  });

  declare('D2: an intent that is requested again, because no answer came, exists once', async (fleet) => {
    const input = jobAndSettings(fleet, 'twice');
    const asked = propagate(fleet, input).catch(() => undefined);
    await fleet.dieAfter(1);
    await fleet.restart();
    await asked;
    expect((await propagate(fleet, input)).result).toBe('UNCHANGED');
    await endOf(fleet, 'twice');
    expect(await stateOf(fleet, 'twice')).toMatchObject({ generation: 1, revision: 1 });
  });
}

function jobAndSettings(fleet: WritingFleet, name: string): JsonObject {
  const containers = [{ name: 'run', image: 'registry.example.com/run:1.0' }];
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: fleet.namespace },
    spec: { backoffLimit: 0, template: { spec: { restartPolicy: 'Never', containers } } },
  };
  return intentOf(fleet, name, [job, configMapOf(fleet, name, { a: '1' })]);
}

/** Returns the final state. No controller runs its Jobs, so they stay active. */
async function endOf(fleet: WritingFleet, name: string): Promise<object> {
  const isThere = ({ clusters }: PropagationSeen) =>
    clusters.length === fleet.names.length &&
    clusters.every(({ phase, objects }) => phase === 'PROGRESSING' && objects.every(({ state }) => state === 'OWNED'));
  const { revision, generation, clusters } = await stateWhere(fleet, name, isThere);
  const path = `/apis/batch/v1/namespaces/${fleet.namespace}/jobs/${name}`;
  const jobs = await Promise.all(fleet.names.map(async (cluster) => (await objectAt(fleet, cluster, path))?.metadata.generation));
  const lines = clusters.map(({ cluster, phase, objects }) => [
    cluster.name,
    phase,
    objects.map(({ key, state }) => `${key.kind} ${state}`),
  ]);
  return { revision, generation, lines, jobs, data: await dataIn(fleet, name) };
}
