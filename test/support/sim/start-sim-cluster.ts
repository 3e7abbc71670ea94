import { systemClock } from '../../../src/core/clock.ts';
import { administer } from '../../../src/sim/administer.ts';
import { createCertificate } from '../../../src/sim/certificate.ts';
import { createSimServer } from '../../../src/sim/create-sim-server.ts';
import { createRequestHandler, type Handler } from '../../../src/sim/request-handler.ts';
import type { SimHooks } from '../../../src/sim/requests/sim-server.ts';
import { Behaviour } from './behaviour.ts';
import { ContainerLogs } from './container-logs.ts';
import { Door } from './door.ts';
import { LaggingState } from './lagging-state.ts';
import { misbehave } from './misbehave.ts';
import { misbehavingHooks } from './misbehaving-answers.ts';
import { RequestLog } from './request-log.ts';
import { administerSim } from './sim-administration.ts';
import type { OpenWatch, SimCluster, SimClusterOptions, SimRequest } from './sim-cluster.ts';
import { upset } from './upset.ts';
import { WriteLog } from './write-log.ts';

/**
 * Starts one cluster that tests control. When this resolves it listens on loopback and has the default namespaces.
 *
 * @throws {Error} if no port is free.
 */
export async function startSimCluster(options: SimClusterOptions): Promise<SimCluster> {
  const { name, clock = systemClock, protocols = 'both', maxConcurrentStreams = 100 } = options;
  const [behaviour, log, writes, logs] = [new Behaviour(), new RequestLog(clock), new WriteLog(), new ContainerLogs(clock)];
  const hooks: SimHooks = {
    ...misbehavingHooks(behaviour, log),
    onWrite: (context, done) => writes.note(context, done),
    lines: logs,
  };
  let created: LaggingState | undefined;
  const server = createSimServer({
    ...{ ...options, clock, hooks },
    createState(stateOptions) {
      created = new LaggingState(stateOptions);
      return created;
    },
  });
  const state = created as unknown as LaggingState;
  const certificate = await createCertificate();
  const handler = createRequestHandler(server);
  let answering: { readonly handler: Handler } = { handler };
  const door = await Door.open({
    ...{ certificate, protocols, maxConcurrentStreams },
    handler: (request, response) => answering.handler(request, response),
  });
  server.host = door.host;
  state.onWrite(({ type, storage, object }) => {
    if (type === 'DELETED' && storage.kind.resource === 'pods' && storage.kind.group === '') logs.forget(object.uid);
  });
  const admin = administer(server);
  const stop = () => door[Symbol.asyncDispose]();
  return {
    ...{ name, url: `https://${door.host}`, caPem: certificate.ca },
    get token() {
      return server.token;
    },
    get gitVersion() {
      return server.gitVersion;
    },
    get requests() {
      return log.all;
    },
    openWatches: () =>
      Array.from(server.watches, ({ target, request }): OpenWatch => ({ ...target.resource, request: request as SimRequest })),
    connections: () => door.connections,
    writes: () => writes.all,
    onWrite: (hook) => writes.onWrite(hook),
    ...admin,
    ...administerSim({ server, state, logs }, admin),
    ...misbehave(server, door, behaviour),
    ...upset(server, state, door),
    handler,
    exchange(other) {
      answering = other;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
