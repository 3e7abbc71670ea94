import { answerRefusal, type ResourceContext } from './answer-context.ts';
import { isRefusal, type Refusal, reasonOf, refusal, tooLarge, tooOld } from './api-status.ts';
import { isTrue } from './asked.ts';
import { originOf, readSelection, refuseWatchOptions, type WatchOrigin } from './list-options.ts';
import { acceptedShape } from './media-type.ts';
import type { StatusError, StreamingFault } from './misbehaviours.ts';
import { whenVisible } from './visibility.ts';
import { OpenStream } from './watch-stream.ts';

/** Answers a watch until it ends: what there is or was, then what happens. */
export async function answerWatch(context: ResourceContext): Promise<void> {
  const { asked, query, request, server, facts } = context;
  const { storage, resource } = asked;
  const { behaviour, state } = server;
  if (behaviour.unwatchable.find(facts) !== undefined || !storage.kind.verbs.includes('watch')) {
    const message = `watch is not supported on resources of kind "${storage.kind.resource}"`;
    return answerRefusal(context, { ...refusal(405, message), details: { kind: storage.kind.resource } });
  }
  const shape = acceptedShape(request.headers.accept, storage.kind, 'watch');
  if (typeof shape !== 'string') return answerRefusal(context, shape);
  const selection = readSelection(query, storage.kind, resource);
  if (isRefusal(selection)) return answerRefusal(context, selection);
  const fault = behaviour.streaming.find(facts);
  const streams = streamsInitialEvents(server.gitVersion) && fault?.type !== 'refused';
  const refused = refuseWatchOptions(query, { streams }) ?? expiredAtOpening(context);
  if (refused !== undefined) return answerRefusal(context, refused);

  const origin = originOf(query, { streams });
  const after = origin.type === 'after' ? origin.version : state.visibleRevision;
  const allowsBookmarks = isTrue(query.get('allowWatchBookmarks')) && !storage.kind.anonymous;
  const stream = new OpenStream(context, { form: { shape, version: resource.version }, selection, allowsBookmarks, after });
  if (behaviour.heldHeaders.find(facts) === undefined) stream.openHead();
  const error = errorAtOpening(context);
  if (error !== undefined) return stream.fail(error);
  if (behaviour.closesAtOnce.find(facts) !== undefined) return stream.end();
  await serve(context, stream, { origin, fault });
}

interface Serving {
  readonly origin: WatchOrigin;
  readonly fault: StreamingFault | undefined;
}

async function serve(context: ResourceContext, stream: OpenStream, { origin, fault }: Serving): Promise<void> {
  const { server, asked } = context;
  const { state } = server;
  if (origin.type === 'initialEvents' && !(await whenVisible(state, origin.notOlderThan, stream.signal))) {
    return stream.fail(tooLarge(String(origin.notOlderThan), String(state.visibleRevision)));
  }
  const missed = origin.type === 'after' ? asked.storage.since(origin.version) : [];
  if (missed === undefined) return stream.fail(tooOld(String(stream.request.query.resourceVersion), asked.storage.oldestRevision));
  server.watches.add(stream);
  stream.signal.addEventListener('abort', () => server.watches.delete(stream), { once: true });
  for (const change of missed) if (change.revision <= state.visibleRevision) stream.tell(change);
  const times = keepTimes(context, stream);
  if (origin.type === 'initialEvents') await tellInitialEvents(context, stream, { origin, fault });
  await times;
}

async function tellInitialEvents({ server, asked }: ResourceContext, stream: OpenStream, { origin, fault }: Serving): Promise<void> {
  const { state } = server;
  const revision = state.visibleRevision;
  stream.hold();
  const objects = stream.selected(asked.storage.at(revision) ?? asked.storage.sorted());
  const isStreaming = stream.request.query.sendInitialEvents !== undefined;
  if (fault?.type === 'dying' && isStreaming && server.behaviour.streaming.take(stream.facts) !== undefined) {
    await stream.tellState(objects, objects.length >> 1);
    return stream.reset();
  }
  await stream.tellState(objects);
  const ends = origin.type === 'initialEvents' && origin.ends && !(fault?.type === 'endless' && isStreaming);
  if (fault?.type === 'late' && isStreaming) {
    stream.live();
    await state.clock.sleep(fault.delayMs, stream.signal);
    if (ends && !stream.signal.aborted) stream.bookmark(String(state.visibleRevision), { endsInitialEvents: true });
    return;
  }
  if (ends) stream.bookmark(asked.storage.kind.anonymous ? '' : String(revision), { endsInitialEvents: true });
  stream.live();
}

/** Sends a bookmark now and then, and ends the watch after its time. */
async function keepTimes({ query, server }: ResourceContext, stream: OpenStream): Promise<void> {
  const { clock } = server.state;
  const asked = Number(query.get('timeoutSeconds') ?? '0');
  // Without a wish an API server takes between half an hour and an hour.
  const lastsMs = (asked > 0 ? asked : 1_800 * (1 + clock.random())) * 1_000;
  const endsMs = clock.monotonic() + lastsMs;
  const everyMs = stream.allowsBookmarks ? server.bookmarkSeconds * 1_000 : Number.POSITIVE_INFINITY;
  let bookmarkMs = clock.monotonic() + everyMs;
  for (;;) {
    const nowMs = clock.monotonic();
    if (nowMs >= endsMs) return stream.end();
    if (nowMs >= bookmarkMs) {
      stream.bookmark(String(server.state.visibleRevision), { endsInitialEvents: false });
      bookmarkMs = nowMs + everyMs;
    }
    await clock.sleep(Math.min(endsMs, bookmarkMs) - nowMs, stream.signal);
    if (stream.signal.aborted) return;
  }
}

function expiredAtOpening({ server, facts, query }: ResourceContext): Refusal | undefined {
  const version = query.get('resourceVersion') ?? '';
  if (version === '' || version === '0' || server.behaviour.expirations.find(facts) !== 'status') return undefined;
  server.behaviour.expirations.take(facts);
  return tooOld(version, server.state.revision);
}

function errorAtOpening({ server, facts, query }: ResourceContext): Refusal | undefined {
  const { behaviour, state } = server;
  const version = query.get('resourceVersion') ?? '';
  if (version !== '' && version !== '0' && behaviour.expirations.take(facts) === 'event') return tooOld(version, state.revision);
  const error = behaviour.errors.take(facts);
  return error === undefined ? undefined : refusalOf(error);
}

/** The Status of an ERROR that somebody asked for. */
export function refusalOf({
  code,
  reason = reasonOf(code),
  message = `sent by the cluster: ${code}`,
  retryAfterSeconds,
}: StatusError): Refusal {
  return {
    code,
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
  };
}

/** WatchList is on by default in 1.32, was taken back in 1.33, and is there again from 1.34 on. */
function streamsInitialEvents(gitVersion: string): boolean {
  const minor = Number(/^v1\.(\d+)/.exec(gitVersion)?.[1] ?? '0');
  return minor === 32 || minor >= 34;
}
