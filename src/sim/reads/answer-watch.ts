import { apiRefusal, isApiRefusal, tooLarge, tooOld } from '../kinds/api-status.ts';
import { parseListSelection, parseWatchOrigin, refuseWatchOptions, type WatchOrigin } from '../requests/list-options.ts';
import { acceptedShape } from '../requests/media-type.ts';
import { isTrueParameter } from '../requests/request-target.ts';
import { answerRefusal } from '../requests/send-answer.ts';
import type { ResourceContext } from '../requests/sim-server.ts';
import { whenVisible } from '../state/sim-state.ts';
import { WatchStream } from './watch-stream.ts';

/** Answers a watch until it ends: first the initial or missed events, then new ones. */
export async function answerWatch(context: ResourceContext): Promise<void> {
  const { target, query, request, server } = context;
  const { storage, resource } = target;
  if (!storage.kind.verbs.includes('watch')) {
    const message = `watch is not supported on resources of kind "${storage.kind.resource}"`;
    return answerRefusal(context, { ...apiRefusal(405, message), details: { kind: storage.kind.resource } });
  }
  const shape = acceptedShape(request.headers.accept, storage.kind, 'watch');
  if (typeof shape !== 'string') return answerRefusal(context, shape);
  const selection = parseListSelection(query, storage.kind, resource);
  if (isApiRefusal(selection)) return answerRefusal(context, selection);
  const streams = streamsInitialEvents(server.gitVersion);
  const refused = refuseWatchOptions(query, { streams });
  if (refused !== undefined) return answerRefusal(context, refused);

  const origin = parseWatchOrigin(query, { streams });
  const after = origin.type === 'after' ? origin.version : server.state.visibleRevision;
  const allowsBookmarks = isTrueParameter(query.get('allowWatchBookmarks')) && !storage.kind.anonymous;
  const stream = new WatchStream(context, { form: { shape, version: resource.version }, selection, allowsBookmarks, after });
  await startWatch(context, stream, origin);
}

async function startWatch(context: ResourceContext, stream: WatchStream, origin: WatchOrigin): Promise<void> {
  const { server, target } = context;
  const { state } = server;
  if (origin.type === 'initialEvents' && !(await whenVisible(state, origin.notOlderThan, stream.signal))) {
    return stream.fail(tooLarge(String(origin.notOlderThan), String(state.visibleRevision)));
  }
  const missed = origin.type === 'after' ? target.storage.since(origin.version) : [];
  if (missed === undefined) return stream.fail(tooOld(String(stream.request.query.resourceVersion), target.storage.oldestRevision));
  server.watches.add(stream);
  stream.signal.addEventListener('abort', () => server.watches.delete(stream), { once: true });
  for (const change of missed) if (change.revision <= state.visibleRevision) stream.send(change);
  const times = keepTimes(context, stream);
  if (origin.type === 'initialEvents') await sendInitialEvents(context, stream, origin.ends);
  await times;
}

async function sendInitialEvents({ server, target }: ResourceContext, stream: WatchStream, ends: boolean): Promise<void> {
  const { state } = server;
  const revision = state.visibleRevision;
  stream.hold();
  await stream.sendState(stream.selected(target.storage.at(revision) ?? target.storage.sorted()));
  if (ends) stream.bookmark(target.storage.kind.anonymous ? '' : String(revision), { endsInitialEvents: true });
  stream.live();
}

/** Sends bookmarks, and ends the watch at its timeout. */
async function keepTimes({ query, server }: ResourceContext, stream: WatchStream): Promise<void> {
  const { clock } = server.state;
  const requestedSeconds = Number(query.get('timeoutSeconds') ?? '0');
  // Without a timeout in the request, an API server chooses 30 to 60 minutes.
  const lastsMs = (requestedSeconds > 0 ? requestedSeconds : 1_800 * (1 + clock.random())) * 1_000;
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

/**
 * True if the server sends initial events on request. This feature, WatchList, is on by default in 1.32, off in 1.33, and on again from
 * 1.34 on.
 */
function streamsInitialEvents(gitVersion: string): boolean {
  const minor = Number(/^v1\.(\d+)/.exec(gitVersion)?.[1] ?? '0');
  return minor === 32 || minor >= 34;
}
