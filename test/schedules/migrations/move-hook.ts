import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ConfiguredHook } from '../../../src/config/config.ts';
import type { HookRequest } from '../../../src/migrate/traffic/hook-request.ts';
import { availableIn, hasServiceIn, type MovingFleet } from './moving-fleet.ts';
import type { Dice } from './random-fleet.ts';

/** A server that receives the hook's calls when traffic moves, and that fails at random. */
export interface MoveHook extends AsyncDisposable {
  readonly configured: ConfiguredHook;
  /** Checks the calls from now on. */
  check(fleet: MovingFleet): void;
  /** Ends its failures. */
  heal(): void;
  violations(): readonly string[];
}

/**
 * Listens on a free port. At each call, the cluster that traffic moves to has the Service and all healthy replicas. All calls of one
 * operation of an application have the same id. `Finish` follows when the workload is gone from the source.
 */
export async function createMoveHook(dice: Dice): Promise<MoveHook> {
  const found = new Set<string>();
  const ids = new Map<string, string>();
  let fleet: MovingFleet | undefined;
  let isWell = false;
  const server = createServer(async (request, response) => {
    const call = JSON.parse(await text(request)) as HookRequest;
    if (fleet !== undefined) for (const violation of violationsOf(fleet, call, ids)) found.add(`hook: ${violation}`);
    const fate = isWell ? 9 : dice.below(10);
    if (fate === 0) return void response.destroy();
    if (fate === 1) return;
    response.writeHead(fate === 2 ? 400 : fate < 5 ? 503 : 200).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    configured: { name: 'upstreams', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, timeoutMs: 5_000 },
    check(checked) {
      fleet = checked;
    },
    heal() {
      isWell = true;
    },
    violations: () => [...found],
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function violationsOf(fleet: MovingFleet, { operation, id, app, migration, from, to }: HookRequest, ids: Map<string, string>) {
  const scheduled = fleet.apps.find(({ name }) => name === app.name);
  if (scheduled === undefined) return [`${operation} of ${app.name}, which is no application`];
  const { workload, parts, name, propagation } = scheduled;
  const key = `${operation} ${migration.name} ${name}`;
  const violations = (ids.get(key) ?? id) === id ? [] : [`${key} has two ids`];
  ids.set(key, id);
  if (operation === 'Finish') {
    const object = fleet.cluster(from.cluster).get(`${workload.kind}.apps`, name, 'default');
    const isLeft = object !== undefined && !fleet.strangers.has(object.metadata.uid ?? '');
    return isLeft ? [...violations, `${key}, but the workload is still in ${from.cluster}`] : violations;
  }
  const cluster = operation === 'Shift' ? to.cluster : from.cluster;
  const needed = propagation === undefined ? (fleet.needed.get(name) ?? 0) : 1;
  const isServed = !parts.some((part) => part.kind === 'Service' && part.metadata.name === name) || hasServiceIn(fleet, cluster, workload);
  const isHealthy = isServed && availableIn(fleet, cluster, workload) >= needed;
  return isHealthy ? violations : [...violations, `${key}, but ${cluster} is not ready for traffic`];
}
