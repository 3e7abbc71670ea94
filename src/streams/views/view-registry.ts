import type { Caller } from '../../access/access.ts';
import { MusterError } from '../../core/errors.ts';
import { loggableError } from '../../core/loggable-error.ts';
import type { QueueBudget } from '../../load/queue-budget.ts';
import type { Model } from '../../model/model.ts';
import type { ChangesMessage } from '../messages/changes-message.ts';
import type { MessageMaker } from '../messages/message-makers.ts';
import type { ResumePoint } from '../messages/stream-cursor.ts';
import { ViewReader } from '../readers/view-reader.ts';
import type { StreamSource } from '../stream-source.ts';
import { StreamView } from './view.ts';
import type { ViewDependencies } from './view-dependencies.ts';
import type { ViewQuery } from './view-sources.ts';
import { type WatchScope, watchScopeOf } from './watch-scope.ts';

/** A requested stream whose arguments are checked. */
export interface CheckedStream {
  readonly caller: Caller;
  /** The model against which the query was checked. The meaning of a filter depends on it. */
  readonly model: Model;
  readonly query: ViewQuery;
  readonly after: ResumePoint | undefined;
}

interface ViewRegistryOptions<Message extends ChangesMessage> {
  readonly dependencies: ViewDependencies;
  readonly budget: QueueBudget;
  readonly maker: MessageMaker<Message>;
}

/** The views of one type of message. Streams with the same query, model and rights share one view. */
interface ViewRegistry<Message extends ChangesMessage> {
  readonly views: number;
  readonly readers: number;
  source(requested: CheckedStream): StreamSource<Message>;
  /** Ends the streams of kinds that the new model does not have. */
  modelChanged(model: Model): void;
}

/** Creates the registry. All views end when the signal aborts. */
export function createViewRegistry<Message extends ChangesMessage>(
  { dependencies, budget, maker }: ViewRegistryOptions<Message>,
  life: AbortSignal,
): ViewRegistry<Message> {
  const { mirrors, access, sources, log } = dependencies;
  const views = new Map<string, StreamView<Message>>();
  const models = createNumbers<Model>();

  life.addEventListener('abort', () => {
    for (const view of [...views.values()]) view.endSilently();
  });

  const scopeNow = ({ kinds, clusters }: ViewQuery, caller: Caller, signal: AbortSignal): WatchScope | Promise<WatchScope> => {
    const requested = clusters ?? [...mirrors.members()];
    const visible = requested.filter((name) => access.maySeeCluster(caller, name));
    return watchScopeOf(access, { caller, kinds, clusters: visible, hidden: visible.length < requested.length }, signal);
  };

  const viewOf = (
    requested: Pick<CheckedStream, 'model' | 'query'>,
    scope: WatchScope,
    from: 'opening' | 'moving',
  ): StreamView<Message> => {
    const { model, query } = requested;
    const key = JSON.stringify([models.of(model), query.filter, scope.digest]);
    const known = views.get(key);
    if (known !== undefined) return known;
    // A reader that moves has been admitted with its old view.
    if (from === 'opening') sources.admit(query.kinds.length * (query.clusters?.length ?? mirrors.members().size));
    const view = new StreamView<Message>({
      dependencies,
      query,
      scope,
      maker,
      scopeFor: (caller, signal) => scopeNow(query, caller, signal),
      viewFor: (other) => viewOf({ model, query }, other, 'moving'),
      onEnd: () => {
        if (views.get(key) === view) views.delete(key);
      },
    });
    views.set(key, view);
    return view;
  };

  /** Asks again if clusters join or leave meanwhile, so that the scope covers the members at the end of the request. */
  const settledScope = async ({ query, caller }: CheckedStream, signal: AbortSignal): Promise<WatchScope> => {
    for (;;) {
      const members = mirrors.members();
      const scope = scopeNow(query, caller, signal);
      if (!(scope instanceof Promise)) return scope;
      const known = await scope;
      signal.throwIfAborted();
      if (mirrors.members() === members) return known;
    }
  };

  return {
    get views() {
      return views.size;
    },
    get readers() {
      return views.values().reduce((sum, view) => sum + view.readers, 0);
    },
    source: (requested) => ({
      async open(listener, signal) {
        signal.throwIfAborted();
        const scope = await settledScope(requested, signal);
        if (life.aborted) throw new MusterError('SHUTTING_DOWN', 'the gateway is stopping');
        if (scope.isEmpty) throw new MusterError('FORBIDDEN', 'the caller may watch none of the requested kinds in any cluster');
        const view = viewOf(requested, scope, 'opening');
        const { caller, after } = requested;
        const onThrow = (error: unknown) => log.error({ err: loggableError(error) }, 'a listener of a stream threw: its stream was ended');
        const reader = new ViewReader<Message>({ caller, listener, signal, host: view, openShare: budget.open, onThrow, after });
        view.join(reader);
        return reader;
      },
    }),
    modelChanged(model) {
      for (const view of [...views.values()]) view.modelChanged(model);
    },
  };
}

/** Gives each object a number of its own. */
function createNumbers<T extends object>(): { of(thing: T): number } {
  const numbers = new WeakMap<T, number>();
  let last = 0;
  return {
    of(thing) {
      const known = numbers.get(thing);
      if (known !== undefined) return known;
      last += 1;
      numbers.set(thing, last);
      return last;
    },
  };
}
