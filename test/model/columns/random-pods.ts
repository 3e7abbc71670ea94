import type { JsonObject } from '../../../src/core/json.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { container, containers, type PodState, sidecars } from './pod-states.ts';

const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];
const reasons = [undefined, '', 'Completed', 'Error', 'OOMKilled', 'CrashLoopBackOff', 'PodInitializing', 'ContainerCreating'];

/** Pods in random states, equal for equal seeds. The output of kubectl for them is not known. */
export function randomPods(count: number, seed: number): readonly Omit<PodState, 'prints'>[] {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T;
  const often = (share: number) => random() < share;
  const reason = () => {
    const found = oneOf(reasons);
    return found === undefined ? {} : { reason: found };
  };
  const time = () => ({ startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:00Z' });
  const state = (): JsonObject => {
    const found = below(4);
    if (found === 0) return { waiting: reason() };
    if (found === 1) return { running: {} };
    if (found === 2) return {};
    return { terminated: { exitCode: oneOf([0, 0, 1, 137]), ...(often(0.3) ? { signal: 9 } : {}), ...reason(), ...time() } };
  };
  const status = (name: string): JsonObject =>
    container(name, state(), {
      restartCount: often(0.5) ? below(9) : 0,
      ready: often(0.5),
      ...(often(0.7) ? { started: often(0.6) } : {}),
      ...(often(0.3) ? { lastState: { terminated: { exitCode: 1, ...time() } } } : {}),
    });
  const condition = (type: string) => (often(0.5) ? [{ type, status: oneOf(['True', 'False', 'Unknown']) }] : []);
  return Array.from({ length: count }, (_, index) => {
    const inits = ['a', 'b', 'c'].slice(0, below(4)).flatMap((name) => (often(0.5) ? sidecars(name) : containers(name)));
    const names = ['x', 'y', 'z'].slice(0, 1 + below(3));
    const reasonOfPod = often(0.2) ? { reason: oneOf(['Evicted', 'NodeLost', 'Completed', 'Error']) } : {};
    return {
      name: `random-${index}`,
      spec: { containers: containers(...names), ...(inits.length === 0 ? {} : { initContainers: inits }) },
      status: {
        phase: oneOf(phases),
        ...reasonOfPod,
        conditions: [...condition('Initialized'), ...condition('Ready'), ...condition('PodScheduled')],
        initContainerStatuses: often(0.2) ? [] : inits.map(({ name }) => status(String(name))),
        containerStatuses: often(0.1) ? [] : names.map(status),
      },
      deleted: often(0.2),
    };
  });
}
