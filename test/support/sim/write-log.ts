import { parse as parseYaml } from 'yaml';
import { isJsonObject, type Json, parseJsonExactly } from '../../../src/core/json.ts';
import { objectAt, textAt } from '../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { parseSimObject } from '../../../src/sim/kinds/sim-object.ts';
import { isTrueParameter } from '../../../src/sim/requests/request-target.ts';
import type { CompletedWrite, ResourceContext } from '../../../src/sim/requests/sim-server.ts';
import { isDry, managerOf } from '../../../src/sim/writes/write-options.ts';
import type { SimWrite, WriteAftermath, WriteHook } from './sim-cluster.ts';

/** Maximum number of writes that are kept. */
const maxWrites = 100_000;

/** The writes over the network, the oldest first, and the hooks for them. */
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

  /** Records the write before it returns. Resolves with the fate of its answer after all hooks have run. */
  async note(context: ResourceContext, done: CompletedWrite): Promise<WriteAftermath> {
    this.#seq += 1;
    const write = writeOf(context, done, this.#seq);
    if (this.#writes.length >= maxWrites * 1.25) this.#writes = this.#writes.slice(-maxWrites);
    this.#writes.push(write);
    const body = objectOf(await context.body());
    write.preconditions = preconditionsOf(write, body);
    write.isDry ||= write.verb.startsWith('delete') && Array.isArray(objectAt(body).dryRun);
    if (write.isDry) return 'answered';
    const aftermaths = await Promise.all(Array.from(this.#hooks, (hook) => hook(write)));
    return aftermaths.includes('lost') ? 'lost' : 'answered';
  }
}

type NotedWrite = SimWrite & { preconditions: SimWrite['preconditions']; isDry: boolean };

const patches: Readonly<Record<string, SimWrite['patch']>> = {
  'application/apply-patch+yaml': 'apply',
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
};

function writeOf(context: ResourceContext, { result, object: stored }: CompletedWrite, seq: number): NotedWrite {
  const { target, request, query, server } = context;
  const { storage, resource } = target;
  const { kind } = storage;
  const patch = resource.verb === 'patch' ? patches[request.headers['content-type']?.split(';')[0]?.trim() ?? ''] : undefined;
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
    manager: managerOf(context),
    isForced: patch !== undefined && isTrueParameter(query.get('force')),
    isDry: isDry(context),
    user: request.user ?? '',
    preconditions: {},
    result,
    get object() {
      object ??= parseSimObject(kind, stored);
      return object;
    },
  };
}

/** Parses the body. JSON is valid YAML, but integers stay exact only if it is parsed as JSON. */
function objectOf(text: string | undefined): Json | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  try {
    return parseJsonExactly(text);
  } catch {
    return parseYaml(text) as Json;
  }
}

function preconditionsOf({ verb, patch }: SimWrite, body: Json | undefined): SimWrite['preconditions'] {
  if (verb === 'create' || patch === 'json' || !isJsonObject(body)) return {};
  const source = verb.startsWith('delete') ? body.preconditions : body.metadata;
  const [uid, resourceVersion] = [textAt(source, 'uid'), textAt(source, 'resourceVersion')];
  return { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
}
