import type { KubernetesObject } from '../core/objects.ts';
import type { ResourceContext } from './answer-context.ts';
import type { SimWrite, WriteAftermath, WriteHook } from './sim-cluster.ts';
import { parsed, type StoredObject } from './stored-object.ts';

/** What was done, beside what the request says. */
export interface DoneWrite {
  readonly result: SimWrite['result'];
  readonly object: StoredObject;
  readonly manager: string;
  readonly isDry: boolean;
  readonly patch?: SimWrite['patch'];
  readonly isForced?: boolean;
  readonly preconditions?: SimWrite['preconditions'];
}

/** The latest writes that are kept. */
const maxWrites = 100_000;

/** The writes over the network, the oldest first, and who waits for them. */
export class WriteLog {
  readonly #hooks = new Set<WriteHook>();
  #writes: SimWrite[] = [];
  #seq = 0;

  get all(): readonly SimWrite[] {
    return this.#writes;
  }

  onWrite(hook: WriteHook): Disposable {
    this.#hooks.add(hook);
    return { [Symbol.dispose]: () => void this.#hooks.delete(hook) };
  }

  /** Notes the write in this turn. Resolves when all hooks have been told: with what becomes of its answer. */
  async note(context: ResourceContext, done: DoneWrite): Promise<WriteAftermath> {
    this.#seq += 1;
    const write = writeOf(context, done, this.#seq);
    if (this.#writes.length >= maxWrites * 1.25) this.#writes = this.#writes.slice(-maxWrites);
    this.#writes.push(write);
    if (done.isDry) return 'answered';
    const aftermaths = await Promise.all(Array.from(this.#hooks, (hook) => hook(write)));
    return aftermaths.includes('lost') ? 'lost' : 'answered';
  }
}

function writeOf({ asked, request, server }: ResourceContext, done: DoneWrite, seq: number): SimWrite {
  const { storage, resource } = asked;
  const { kind } = storage;
  const { object: stored, patch, isForced = false, preconditions = {}, ...rest } = done;
  let object: KubernetesObject | undefined;
  return {
    seq,
    atMs: server.state.clock.monotonic(),
    verb: resource.verb as SimWrite['verb'],
    ...(patch === undefined ? {} : { patch }),
    group: kind.group,
    kind: kind.kind,
    ...(stored.namespace === '' ? {} : { namespace: stored.namespace }),
    name: stored.name,
    ...(resource.subresource === undefined ? {} : { subresource: resource.subresource }),
    path: request.path,
    isForced,
    user: request.user ?? '',
    preconditions,
    ...rest,
    get object() {
      object ??= parsed(kind, stored);
      return object;
    },
  };
}
