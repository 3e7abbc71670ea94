import type { ObjectClient } from '../../../src/changes/object-client.ts';
import type { ShareStore } from '../../../src/propagate/model/inventory.ts';
import type { CopyWork } from '../../../src/propagate/plan/copies/copy-work.ts';
import type { CopyBench } from './copy-bench.ts';

/** A process that crashes after a number of writes. Later calls get no answer. */
export interface CrashingProcess {
  readonly client: ObjectClient;
  readonly shares: ShareStore;
  readonly keepOld: CopyWork['storeOldValues'];
  readonly writes: () => number;
  /** Runs the work until the crash, and waits for the calls that were already sent. */
  live(work: () => Promise<unknown>): Promise<void>;
}

/** Thrown by every call after the crash. */
class Crashed extends Error {}

/**
 * Creates a process that crashes after `life` writes.
 *
 * @param created Collects the names of the objects that it created, in order.
 */
export function createCrashingProcess({ client, shares, work: workOf }: CopyBench, life: number, created: string[]): CrashingProcess {
  let writes = 0;
  const sent: Promise<unknown>[] = [];
  const beforeDeath = () => {
    if (writes >= life) throw new Crashed();
  };
  /** Sends the write. The caller may not see its answer. */
  const write = async <T>(work: () => Promise<T>): Promise<T> => {
    beforeDeath();
    writes += 1;
    const sending = work();
    sent.push(sending);
    const done = await sending;
    // The last write is done, but the crash comes before its answer.
    if (writes >= life) throw new Crashed();
    return done;
  };
  const noted = async (work: Promise<Awaited<ReturnType<ObjectClient['apply']>>>) => {
    const answer = await work;
    if (answer.result === 'answered' && answer.isNew) created.push(answer.object.metadata.name);
    return answer;
  };
  return {
    writes: () => writes,
    async live(work) {
      try {
        await work();
      } catch (error) {
        if (!(error instanceof Crashed)) throw error;
      }
      await Promise.allSettled(sent);
    },
    client: {
      ...client,
      get(address, signal) {
        beforeDeath();
        return client.get(address, signal);
      },
      apply: (request, signal) => write(() => noted(client.apply(request, signal))),
      replace: (request, signal) => write(() => client.replace(request, signal)),
      patch: (request, signal) => write(() => client.patch(request, signal)),
      delete: (request, signal) => write(() => client.delete(request, signal)),
    },
    keepOld: (values, signal) => write(() => workOf().storeOldValues(values, signal)),
    shares: {
      ...shares,
      save: (share, signal) => write(() => shares.save(share, signal)),
      remove: (share, signal) => write(() => shares.remove(share, signal)),
    },
  };
}

/** The `life` of a process that never crashes. */
export const neverCrashes = Number.POSITIVE_INFINITY;
