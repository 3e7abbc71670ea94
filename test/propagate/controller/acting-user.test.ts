import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { PropagationOutcome } from '../../../src/propagate/model/propagations.ts';
import { type ControllerWorld, configMap, intent, startControllerWorld } from './controller-world.ts';

// docs/guide/access.md: with whose rights copies are written and deleted if several users act on one Propagation.

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const web = (maps: readonly string[]) =>
  intent(
    'web',
    maps.map((name) => configMap(name, { a: '1' })),
    { placement: { clusters: ['south'] } },
  );
const place = { namespace: 'default', name: 'web' };

/** Acts on the Propagation as this user. */
async function asUser(fleet: ControllerWorld, user: string, act: (context: ControllerWorld['context']) => Promise<PropagationOutcome>) {
  const outcome = await fleet.world.pumped(act({ ...fleet.context, caller: { key: user } }));
  expect(outcome.result).toBe('ACCEPTED');
}

/** The users for whom requests of this method were sent to the south since the last call. */
const usersOf = ({ world }: ControllerWorld, method: string) => {
  const { requests } = world.cluster('south');
  const users = requests.filter((one) => one.method === method).map(({ headers }) => headers['impersonate-user']);
  return [...new Set(users)];
};

async function startedByAlice(fleet: ControllerWorld) {
  fleet.startProcess();
  await asUser(fleet, 'alice', (context) => fleet.propagations.propagate(context, { input: web(names) }));
  await fleet.phase('web', 'Settled');
  expect(usersOf(fleet, 'PATCH')).toEqual(['alice']);
}

test.each<[string, JsonObject | undefined, readonly string[]]>([
  ['deletes the copies with the rights of the requester', undefined, ['alice']],
  [
    'deletes the copies with the rights of the caller, if the caller changes the deletion policy',
    { policy: 'DELETE', cascade: 'ORPHAN' },
    ['bob'],
  ],
])(
  'a deletion by another user %s',
  async (_what, deletion, users) => {
    await using fleet = await startControllerWorld({ hub: [], south: [] }, { accounts: 'many' });
    await startedByAlice(fleet);
    await asUser(fleet, 'bob', (context) => fleet.propagations.delete(context, place, deletion));
    await fleet.gone('web');
    expect(usersOf(fleet, 'DELETE')).toEqual(users);
  },
  60_000,
);

test('a prune that another user confirms has the rights of the requester', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { accounts: 'many' });
  await startedByAlice(fleet);
  await asUser(fleet, 'alice', (context) => fleet.propagations.propagate(context, { input: web(['a']) }));
  await fleet.phase('web', 'Held');
  await asUser(fleet, 'bob', (context) => fleet.propagations.resume(context, place, { confirmPrune: true, abandon: [] }));
  await fleet.phase('web', 'Settled');
  expect(usersOf(fleet, 'DELETE')).toEqual(['alice']);
}, 60_000);

test('a rollback has the rights of the caller', async () => {
  await using fleet = await startControllerWorld({ hub: [], south: [] }, { accounts: 'many' });
  await startedByAlice(fleet);
  await asUser(fleet, 'alice', (context) => fleet.propagations.propagate(context, { input: web([...names, 'g']) }));
  await fleet.phase('web', 'Settled');
  await asUser(fleet, 'bob', (context) => fleet.propagations.rollback(context, place, undefined));
  await fleet.phase('web', 'Settled');
  expect(usersOf(fleet, 'DELETE')).toEqual(['bob']);
}, 60_000);
