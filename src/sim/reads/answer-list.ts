import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { type ApiRefusal, apiRefusal, isApiRefusal, tooLarge } from '../kinds/api-status.ts';
import { type SimObject, type WireForm, wireText } from '../kinds/sim-object.ts';
import { isListed, type ListSelection, parseListSelection, refuseListOptions } from '../requests/list-options.ts';
import { acceptedShape } from '../requests/media-type.ts';
import { answerJson, answerRefusal, streamHeaders } from '../requests/send-answer.ts';
import type { ResourceContext } from '../requests/sim-server.ts';
import { type ContinueToken, indexAfter, type ListMetadata, listFrame, parseToken, printToken } from '../requests/wire-list.ts';
import type { KindStorage } from '../state/kind-storage.ts';
import { whenVisible } from '../state/sim-state.ts';

/**
 * The objects of a kind at one revision, and the page to return. `after` is the key of the last object of the previous page. Undefined: the
 * first page. A `limit` of 0 means no limit.
 */
interface Source {
  readonly objects: readonly SimObject[];
  readonly revision: number;
  readonly after: string | undefined;
  readonly limit: number;
}

const tokenLifeMs = 5 * 60_000;
/** Kubernetes does not compress smaller answers. */
const minGzipLength = 128 * 1024;
const chunkLength = 64 * 1024;

/** The answer 410 to a list at a version whose history is gone. */
export const expiredList = apiRefusal(410, 'The resourceVersion for the provided list is too old.');
const expiredToken =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, ' +
  'or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an ' +
  'inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** Answers a list: one revision, in pages, with selectors, in the requested form. Large answers are compressed if the client accepts it. */
export async function answerList(context: ResourceContext): Promise<void> {
  const { target, query, request } = context;
  const { storage, resource } = target;
  const shape = acceptedShape(request.headers.accept, storage.kind, 'list');
  if (typeof shape !== 'string') return answerRefusal(context, shape);
  const selection = parseListSelection(query, storage.kind, resource);
  if (isApiRefusal(selection)) return answerRefusal(context, selection);
  const refused = refuseListOptions(query);
  if (refused !== undefined) return answerRefusal(context, refused);
  const source = await sourceOf(context, storage);
  if (isApiRefusal(source)) return answerRefusal(context, source);
  const { items, facts } = pageOf(storage, source, selection);
  if (facts.continue !== undefined)
    storage.pin({ revision: source.revision, takenMs: context.server.state.clock.monotonic(), objects: source.objects });
  await sendList(context, { form: { shape, version: resource.version }, items, facts: storage.kind.anonymous ? {} : facts });
}

/** Returns the objects of the kind at the requested revision, or a refusal. Waits up to 3 s for a future revision. */
async function sourceOf(context: ResourceContext, storage: KindStorage): Promise<Source | ApiRefusal> {
  const { query, server, outlet } = context;
  const { state } = server;
  const version = query.get('resourceVersion') ?? '';
  const limit = Math.max(0, Number(query.get('limit') ?? '0'));
  const token = query.get('continue') ?? '';
  if (token !== '') {
    if (version !== '' && version !== '0') return apiRefusal(400, 'specifying resource version is not allowed when using continue');
    const parsed = parseToken(token);
    if (parsed === undefined) return apiRefusal(400, 'invalid continue token: continue key is not valid');
    return restOf(context, parsed, version === '0' ? 0 : limit);
  }
  if (version === '') return { objects: storage.sorted(), revision: state.revision, after: undefined, limit };
  // The watch cache returns all objects and ignores the limit, as observed in 1.36.
  if (version === '0') return { ...visible(context, storage), after: undefined, limit: 0 };
  const isExact = query.get('resourceVersionMatch') === 'Exact' || (query.get('resourceVersionMatch') === null && limit > 0);
  const wanted = Number(version);
  if (!(await whenVisible(state, wanted, outlet.signal))) return tooLarge(version, String(state.visibleRevision));
  if (!isExact) return { ...visible(context, storage), after: undefined, limit };
  const objects = storage.at(wanted);
  return objects === undefined ? expiredList : { objects, revision: wanted, after: undefined, limit };
}

function visible({ server: { state } }: ResourceContext, storage: KindStorage): { objects: readonly SimObject[]; revision: number } {
  const revision = state.visibleRevision;
  return { objects: storage.at(revision) ?? storage.sorted(), revision };
}

async function restOf(
  { server, target, outlet }: ResourceContext,
  { revision, after }: ContinueToken,
  limit: number,
): Promise<Source | ApiRefusal> {
  const { state } = server;
  const { storage } = target;
  if (revision < 0) return { objects: storage.sorted(), revision: state.revision, after, limit };
  if (!(await whenVisible(state, revision, outlet.signal))) return tooLarge(String(revision), String(state.visibleRevision));
  const pinned = storage.pinned(revision);
  const isAlive = pinned !== undefined && state.clock.monotonic() - pinned.takenMs < tokenLifeMs;
  const objects = isAlive ? pinned.objects : pinned === undefined ? storage.at(revision) : undefined;
  if (objects === undefined || revision <= server.tokensExpiredAt)
    return { ...apiRefusal(410, expiredToken), continue: printToken({ revision: -1, after }) };
  return { objects, revision, after, limit };
}

function pageOf(
  storage: KindStorage,
  { objects, revision, after, limit }: Source,
  selection: ListSelection,
): { items: SimObject[]; facts: ListMetadata } {
  const items: SimObject[] = [];
  const isFiltered = selection.labels !== undefined || selection.fields !== undefined;
  let remaining = 0;
  for (let index = after === undefined ? 0 : indexAfter(objects, after); index < objects.length; index++) {
    const object = objects[index];
    if (object === undefined || !isListed(storage.kind, object, selection)) continue;
    if (limit === 0 || items.length < limit) items.push(object);
    else remaining += 1;
    // With a selector, the remaining items are not counted.
    if (remaining > 0 && isFiltered) break;
  }
  const version = String(revision);
  const last = items.at(-1);
  if (remaining === 0 || last === undefined) return { items, facts: { version } };
  return { items, facts: { version, continue: printToken({ revision, after: last.key }), ...(isFiltered ? {} : { remaining }) } };
}

interface Page {
  readonly form: WireForm;
  readonly items: readonly SimObject[];
  readonly facts: ListMetadata;
}

async function sendList(context: ResourceContext, page: Page): Promise<void> {
  const { request, outlet } = context;
  const length = page.items.reduce((sum, { text }) => sum + text.length, 0);
  if (length < minGzipLength) return answerJson(context, 200, [...textOf(context, page)].join(''));
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) {
    outlet.head(200, streamHeaders);
    await pour(context, textOf(context, page));
    return outlet.end();
  }
  outlet.head(200, { ...streamHeaders, 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  // API servers use level 4 of gzip.
  await pour(context, Readable.from(textOf(context, page)).pipe(createGzip({ level: 4 })));
  outlet.end();
}

async function pour({ outlet }: ResourceContext, chunks: Iterable<string> | AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    if (outlet.signal.aborted) return;
    outlet.write(chunk);
    await outlet.room();
  }
}

function* textOf({ target: { storage } }: ResourceContext, { form, items, facts }: Page): Iterable<string> {
  const [start, end] = listFrame(storage.kind, form, { ...facts, isEmpty: items.length === 0 });
  let chunk = start;
  for (const [index, item] of items.entries()) {
    chunk += index === 0 ? wireText(storage.kind, item, form) : `,${wireText(storage.kind, item, form)}`;
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk + end;
}
