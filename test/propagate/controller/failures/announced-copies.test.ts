import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/json.ts';
import { listAt, textAt } from '../../../../src/core/json-at.ts';
import { hubDefinitions } from '../../../../src/propagate/hub/hub-definitions.ts';
import { marks } from '../../../../src/propagate/model/propagation.ts';
import { type ControllerWorld, configMap, intent, job, startControllerWorld } from '../controller-world.ts';

const names = ['hub', 'c1', 'c2', 'c3', 'c4'];
const bare = Object.fromEntries(names.map((name) => [name, []]));
const shareKind = 'ClusterShare.muster.dev';

const sharesOf = ({ world }: ControllerWorld) => world.cluster('hub').objects(shareKind);
const announcedIn = (propagation: JsonObject | undefined) =>
  listAt(propagation, 'status', 'announced', 'copies').flatMap((group) => listAt(group, 'clusters'));
const storedIn = ({ world }: ControllerWorld, name: string) => world.cluster('hub').get('Propagation.muster.dev', name, 'default');

test('announces the first copies of all clusters in one write of the status, before the first of them is created', async () => {
  await using fleet = await startControllerWorld(bare);
  const seen: unknown[] = [];
  for (const name of names)
    fleet.world.cluster(name).onWrite(({ kind, result }) => {
      if (kind === 'ConfigMap' && result === 'created') seen.push([announcedIn(storedIn(fleet, 'first')).length, sharesOf(fleet).length]);
      return undefined;
    });
  fleet.startProcess();
  await fleet.propagate(intent('first', [configMap('first', { a: '1' })]));
  await fleet.phase('first', 'Settled');
  expect(seen).toHaveLength(names.length);
  expect(seen[0]).toEqual([names.length, 0]);
  expect(sharesOf(fleet).flatMap((share) => listAt(share, 'objects').map((entry) => textAt(entry, 'state')))).toEqual(
    names.map(() => 'Owned'),
  );
  expect(fleet.mirrored('first')?.status.announced).toBeUndefined();
});

test('announces copies in the shares where the hub drops the announcement from the status', async () => {
  await using fleet = await startControllerWorld(bare);
  for (const definition of hubDefinitions()) fleet.world.cluster('hub').define(withoutAnnouncements(definition) as never);
  const states: unknown[] = [];
  fleet.world.cluster('hub').onWrite(({ kind, object }) => {
    if (kind === 'ClusterShare') states.push(...listAt(object, 'objects').map((entry) => textAt(entry, 'state')));
    return undefined;
  });
  fleet.startProcess();
  await fleet.propagate(intent('older', [configMap('older', { a: '1' })]));
  await fleet.phase('older', 'Settled');
  expect(states.filter((state) => state === 'Intended')).toHaveLength(names.length);
});

/** Returns the definition without `status.announced`, like one of an older Muster. */
function withoutAnnouncements(definition: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(definition), (key, value) => (key === 'announced' ? undefined : value)) as JsonObject;
}

/** Changes that a user makes while no process runs. `left`: the clusters that have copies in the end. */
const afterwards: readonly {
  readonly change: string;
  readonly left: readonly string[];
  readonly make: (fleet: ControllerWorld, name: string) => Promise<unknown>;
}[] = [
  {
    change: 'the Propagation is deleted',
    left: [],
    make: ({ world, propagations, context }, name) => world.pumped(propagations.delete(context, { namespace: 'default', name }, undefined)),
  },
  {
    change: 'a cluster leaves the placement',
    left: ['c1', 'c2', 'c3', 'hub'],
    make: (fleet, name) =>
      fleet.propagate(intent(name, [job(name), configMap(name, { a: '1' })], { placement: { exclude: ['c4'] } } as never)),
  },
];

test.each(afterwards)(
  'leaves no copy behind if the process dies after any single write and then $change',
  async ({ make, left }) => {
    await using fleet = await startControllerWorld(bare);
    const writes = await runUntilWritten(fleet, 'whole');
    expect(writes).toBeGreaterThanOrEqual(18);
    for (let life = 1; life <= writes; life += 1) {
      const name = `run-${life}`;
      await runUntilWritten(fleet, name, life);
      await make(fleet, name);
      fleet.freeLease();
      const successor = fleet.startProcess();
      await fleet.world.until(() => clustersWith(fleet, name).join() === left.join());
      await fleet.world.pass(3_000);
      const stored = storedIn(fleet, name);
      const inventory = sharesOf(fleet).filter(({ metadata }) => metadata.labels?.[marks.propagation] === stored?.metadata.uid);
      expect({
        life,
        copies: clustersWith(fleet, name),
        inventory: inventory.map((share) => textAt(share, 'cluster')).toSorted(),
        announced: announcedIn(stored),
      }).toEqual({ life, copies: left, inventory: left, announced: [] });
      successor.kill();
    }
  },
  300_000,
);

/** Lets a process write the first copies. It ends after this number of writes. Default: when all is written. Returns the number of writes. */
async function runUntilWritten(fleet: ControllerWorld, name: string, life?: number): Promise<number> {
  fleet.freeLease();
  const process = fleet.startProcess(life === undefined ? {} : { life });
  await fleet.propagate(intent(name, [job(name), configMap(name, { a: '1' })]));
  const isWritten = () => clustersWith(fleet, name).length === names.length && fleet.mirrored(name)?.status.announced === undefined;
  await fleet.world.until(() => (life !== undefined && process.writes >= life) || isWritten());
  if (life === undefined) await fleet.world.pass(3_000);
  const { writes } = process;
  process.kill();
  return writes;
}

function clustersWith({ world }: ControllerWorld, name: string): readonly string[] {
  const kinds = ['ConfigMap', 'Job.batch'];
  return names.filter((cluster) => kinds.some((kind) => world.cluster(cluster).get(kind, name, 'default') !== undefined)).toSorted();
}

test('removes no share while the status announces its copies', async () => {
  await using fleet = await startControllerWorld(bare);
  const open: unknown[] = [];
  fleet.world.cluster('hub').onWrite(({ kind, verb, object }) => {
    if (kind === 'ClusterShare' && verb === 'delete' && announcedIn(storedIn(fleet, 'short')).includes(textAt(object, 'cluster') ?? ''))
      open.push(object);
    return undefined;
  });
  fleet.startProcess();
  await fleet.propagate(intent('short', [job('short')]));
  await fleet.world.until(() => sharesOf(fleet).length > 0);
  expect(announcedIn(storedIn(fleet, 'short'))).not.toEqual([]);
  await fleet.world.pumped(fleet.propagations.delete(fleet.context, { namespace: 'default', name: 'short' }, undefined));
  await fleet.gone('short');
  expect(open).toEqual([]);
  expect(sharesOf(fleet)).toEqual([]);
});
