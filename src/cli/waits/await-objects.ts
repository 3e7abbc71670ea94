import { kindAndName, type NamedObject } from '../../core/columns/object-names.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ListTarget } from '../arguments/object-words.ts';
import { ClusterAnswers } from '../client/cluster-answers.ts';
import { ClusterFaultReport } from '../client/cluster-faults.ts';
import { exitCodes } from '../client/command-failure.ts';
import { followSubscriptionField } from '../client/follow-subscription.ts';
import { allObjects, listPages } from '../client/list-pages.ts';
import { fullKindName } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import { nameCondition } from '../lists/find-named.ts';
import { resolveListTargets } from '../lists/target-kinds.ts';
import { printable } from '../output/table.ts';

/** The state of one object: the awaited state holds, may still come, or can no longer come. */
export type AwaitedState = 'holds' | 'pending' | 'failed';

/** An object in an answer. */
export interface AwaitedItem extends NamedObject {
  readonly id: string;
  readonly cluster: { readonly name: string };
  readonly object: JsonObject;
  readonly rollout?: { readonly done: boolean; readonly message: string } | null;
}

/** The objects to wait for, and what to wait for. */
export interface AwaitObjectsOptions {
  readonly targets: readonly ListTarget[];
  readonly namespaces: readonly string[] | null;
  readonly labels: string | null;
  /** The filter of `--field-selector`, for targets without names. Null: none. */
  readonly where: JsonObject | null;
  /** True: each object must be gone. Then `stateOf` is not called. */
  readonly untilGone: boolean;
  readonly stateOf: (item: AwaitedItem) => AwaitedState;
  /** The words that are printed after the name of an object, such as `condition met`. */
  readonly doneText: (item: AwaitedItem) => string;
  /** The reason why an object is pending, for the status line of a terminal. Default: no status line. */
  readonly pendingText?: ((item: AwaitedItem) => string) | undefined;
  /** More fields of each object. Default: none. */
  readonly fields?: string | undefined;
  /** Longest time to wait. Undefined: without an end. */
  readonly timeoutMs: number | undefined;
}

/** The objects of one listing, from which `decide` finds the exit code. */
interface Listing {
  readonly items: readonly AwaitedItem[];
  readonly answers: ClusterAnswers;
  /** Names that no cluster has. */
  readonly missing: readonly string[];
}

/**
 * Waits until the awaited state holds for each object in each cluster. Prints a line for each object when the state holds. Lists the objects again
 * after each change. So a cluster that does not answer never counts as a cluster without the objects.
 *
 * @returns The exit code: 1 if an object does not exist, if the state can no longer come, or if the time is up; 3 if clusters that did not answer
 * leave it unknown.
 */
export async function awaitObjects(session: Session, options: AwaitObjectsOptions): Promise<number> {
  const { signal, clock, terminal } = session;
  const targets = await resolveListTargets(session, options.targets);
  const kinds = [...new Set(targets.flatMap((target) => target.kinds.map(fullKindName)))];
  const stopping = new AbortController();
  const either = AbortSignal.any([signal, stopping.signal]);
  const changes = changesOf({ ...session, signal: either }, { kinds, ...options });
  const timeUp = options.timeoutMs === undefined ? undefined : clock.sleep(options.timeoutMs, either).then(() => 'late' as const);
  const printed = new Set<string>();
  const report = new ClusterFaultReport(session);
  try {
    for (;;) {
      const change = changes.next();
      const listing = await listAwaited({ ...session, signal: either }, { targets, options, report });
      const code = await decide(session, { listing, options, printed });
      if (code !== undefined) return code;
      showPending(session, listing, { options, printed });
      if ((await (timeUp === undefined ? change : Promise.race([change, timeUp]))) !== 'late') continue;
      const { items, answers } = await listAwaited(session, { targets, options, report });
      const pending = items.filter(({ id }) => !printed.has(id));
      for (const item of pending) terminal.err(`muster: ${printable(`${item.cluster.name}: ${kindAndName(item)}`)}: time is up\n`);
      if (pending.length > 0) return exitCodes.failed;
      answers.reportUnknown(session, targets.map(({ kind, names = [] }) => [kind, ...names].join(' ')).join(', '));
      return exitCodes.unknown;
    }
  } finally {
    stopping.abort();
  }
}

/**
 * Returns the exit code if there is nothing left to wait for. Undefined: wait for the next change. Prints objects whose state now holds or can no
 * longer come, and objects that do not exist.
 */
async function decide(
  session: Session,
  { listing, options, printed }: { readonly listing: Listing; readonly options: AwaitObjectsOptions; readonly printed: Set<string> },
): Promise<number | undefined> {
  const { items, answers, missing } = listing;
  if (options.untilGone) return items.length === 0 && answers.isComplete ? exitCodes.good : undefined;
  if (missing.length > 0 || items.length === 0) {
    const what = missing.length > 0 ? missing.join(', ') : options.targets.map(({ kind }) => kind).join(',');
    if (!answers.isComplete) answers.reportUnknown(session, what);
    else session.terminal.err(missing.length > 0 ? `muster: ${printable(what)} is in no cluster\n` : 'No resources found\n');
    return answers.isComplete ? exitCodes.failed : exitCodes.unknown;
  }
  let isFailed = false;
  for (const item of items) {
    const state = options.stateOf(item);
    isFailed ||= state === 'failed';
    if (state === 'pending' || printed.has(item.id)) continue;
    printed.add(item.id);
    const line = printable(`${kindAndName(item)} ${options.doneText(item)} (${item.cluster.name})`);
    if (state === 'holds') await session.terminal.out(`${line}\n`);
    else session.terminal.err(`muster: ${line}\n`);
  }
  if (isFailed) return exitCodes.failed;
  return items.every(({ id }) => printed.has(id)) && answers.isComplete ? exitCodes.good : undefined;
}

/** Shows on a terminal what the first pending object waits for. */
function showPending(
  { terminal }: Session,
  { items }: Listing,
  { options, printed }: { readonly options: AwaitObjectsOptions; readonly printed: ReadonlySet<string> },
): void {
  const { pendingText } = options;
  if (pendingText === undefined || !terminal.isWatched) return;
  const [first, ...others] = items.filter(({ id }) => !printed.has(id));
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  terminal.status(first === undefined ? '' : printable(`${first.cluster.name}: ${pendingText(first)}${more}`));
}

type ResolvedTargets = Awaited<ReturnType<typeof resolveListTargets>>;

async function listAwaited(
  session: Session,
  {
    targets,
    options,
    report,
  }: { readonly targets: ResolvedTargets; readonly options: AwaitObjectsOptions; readonly report: ClusterFaultReport },
): Promise<Listing> {
  const { namespaces, labels, where } = options;
  const answers = new ClusterAnswers();
  const items: AwaitedItem[] = [];
  const missing: string[] = [];
  for (const target of targets) {
    const found = new Set<string>();
    const selected = { ...allObjects, namespaces, labels, where: nameCondition(target) ?? where };
    const listing = {
      kinds: target.kinds.map(fullKindName),
      selected,
      fields: `id apiVersion kind cluster { name } metadata { name namespace } object ${options.fields ?? ''}`,
    };
    for await (const page of listPages<AwaitedItem>(session, { ...listing, report, answers, pageSize: 100 })) {
      items.push(...page);
      for (const { metadata } of page) found.add(metadata.name);
    }
    missing.push(...(target.names ?? []).filter((name) => !found.has(name)).map((name) => `${target.kind} ${name}`));
  }
  return { items, answers, missing };
}

const query = `subscription ($kinds: [String!]!, $clusters: [String!], $namespaces: [String!], $labels: String, $after: String) {
  resources(kinds: $kinds, clusters: $clusters, namespaces: $namespaces, labels: $labels, after: $after) { type cursor }
}`;

/**
 * Opens a stream of the objects, only to learn when to list them again. `next` resolves at the first message after its call, or at once if a message
 * came since the last call.
 */
function changesOf(
  session: Session,
  { kinds, namespaces, labels }: Pick<AwaitObjectsOptions, 'namespaces' | 'labels'> & { readonly kinds: readonly string[] },
): { next(): Promise<void> } {
  let changed = Promise.withResolvers<void>();
  let cursor: string | null = null;
  const variables = (how: 'first' | 'resumed' | 'anew') => ({
    kinds,
    clusters: session.clusters,
    namespaces,
    labels,
    after: how === 'anew' ? null : cursor,
  });
  const read = async () => {
    for await (const event of followSubscriptionField<{ readonly cursor: string }>(session, { query, field: 'resources', variables })) {
      if (event.type === 'message') cursor = event.message.cursor;
      changed.resolve();
    }
  };
  read().catch((error: unknown) => changed.reject(error));
  return {
    next: () => {
      changed.promise.catch(() => undefined);
      const { promise } = changed;
      promise.then(
        () => {
          if (changed.promise === promise) changed = Promise.withResolvers();
        },
        () => undefined,
      );
      return promise;
    },
  };
}
