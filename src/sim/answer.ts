import { answerReview } from './answer-access.ts';
import { isAuthorized } from './authorize.ts';
import {
  type ApiRefusal,
  apiRefusal,
  forbidden,
  isApiRefusal,
  noSuchMethod,
  noSuchResource,
  notFound,
  tooLarge,
} from './kinds/api-status.ts';
import type { RequestedResource } from './kinds/embedded-cluster.ts';
import { storageKey } from './kinds/sim-object.ts';
import { answerDiscovery, answerUnknown, answerVersion, unavailableRefusal } from './reads/answer-discovery.ts';
import { answerList } from './reads/answer-list.ts';
import { answerLog } from './reads/answer-log.ts';
import { answerWatch } from './reads/answer-watch.ts';
import { apiCallerOf } from './requests/api-caller.ts';
import { answerObject, answerRefusal, answerText } from './requests/send-answer.ts';
import type { AnswerContext, ResourceContext } from './requests/sim-server.ts';
import { whenVisible } from './state/sim-state.ts';
import { answerCreate, answerUpdate } from './writes/answer-create-update.ts';
import { answerDelete, answerDeleteCollection } from './writes/answer-delete.ts';
import { answerPatch } from './writes/answer-patch.ts';
import { answerGetScale, answerUpdateScale } from './writes/answer-scale.ts';

/** Answers one request as an API server does. */
export async function answer(context: AnswerContext): Promise<void> {
  const { server, target } = context;
  const refused = refuseCaller(context);
  if (refused !== undefined) return answerRefusal(context, refused);
  const group = target.type === 'resource' ? target.resource.group : 'group' in target ? target.group : undefined;
  if (group !== undefined && server.hooks.isUnavailable?.(group)) return answerRefusal(context, unavailableRefusal);
  switch (target.type) {
    case 'resource':
      return answerResource({ ...context, target });
    case 'discovery':
      return answerDiscovery(context, target);
    case 'version':
      return answerVersion(context);
    case 'health':
      return answerText(context, 200, 'ok');
    case 'notServed':
      return answerRefusal(context, noSuchResource);
    case 'methodNotAllowed':
      return answerRefusal(context, noSuchMethod);
    case 'unknown':
      return answerUnknown(context);
    default:
      target satisfies never;
  }
}

async function answerResource(context: ResourceContext): Promise<void> {
  const { storage, resource } = context.target;
  const { verbs, source } = storage.kind;
  if (verbs.length === 1 && verbs[0] === 'create' && source === 'builtIn' && resource.verb === 'create') return answerReview(context);
  if (resource.verb !== 'watch' && !verbs.includes(resource.verb)) return answerRefusal(context, noSuchMethod);
  switch (resource.verb) {
    case 'get':
      if (resource.subresource === 'scale') return answerGetScale(context);
      return resource.subresource === 'log' ? answerLog(context) : answerGet(context);
    case 'list':
      return answerList(context);
    case 'watch':
      return answerWatch(context);
    case 'create':
      return answerCreate(context);
    case 'update':
      return resource.subresource === 'scale' ? answerUpdateScale(context) : answerUpdate(context);
    case 'delete':
      return answerDelete(context);
    case 'deletecollection':
      return answerDeleteCollection(context);
    case 'patch':
      return answerPatch(context);
    default:
      resource.verb satisfies never;
  }
}

async function answerGet(context: ResourceContext): Promise<void> {
  const { target, query, server, outlet } = context;
  const { storage, resource } = target;
  const version = query.get('resourceVersion') ?? '';
  if (/^[1-9]\d*$/.test(version) && !(await whenVisible(server.state, Number(version), outlet.signal))) {
    return answerRefusal(context, tooLarge(version, String(server.state.visibleRevision)));
  }
  const name = resource.name ?? '';
  const stored = storage.get(storageKey(resource.namespace ?? '', name));
  if (stored === undefined) answerRefusal(context, notFound(storage.kind, name));
  else answerObject(context, stored);
}

/**
 * Returns the refusal of a request, or undefined if it is allowed: 401 for an unknown token, 403 for an anonymous or forbidden request. The
 * paths of the version and the health are open to all. Also records the user in the request.
 */
function refuseCaller(context: AnswerContext): ApiRefusal | undefined {
  const { server, target, request } = context;
  const caller = apiCallerOf(context);
  if (isApiRefusal(caller)) return caller;
  const user = caller.username;
  const isNobody = request.headers.authorization === undefined;
  request.user = user;
  if (isNobody && (target.type === 'version' || target.type === 'health')) return undefined;
  if (target.type !== 'resource') {
    if (!isNobody) return undefined;
    return { ...apiRefusal(403, `forbidden: User "${user}" cannot get path "${request.path}"`), details: {} };
  }
  const { resource, storage } = target;
  if (!isNobody && isAuthorized(server, caller, resource)) return undefined;
  const where = resource.namespace === undefined ? 'at the cluster scope' : `in the namespace "${resource.namespace}"`;
  const what = `User "${user}" cannot ${resource.verb} resource "${qualifiedOf(resource)}" in API group "${resource.group}" ${where}`;
  return forbidden(storage.kind, what, resource.name);
}

/** Returns the resource as an RBAC rule names it: `pods`, `pods/log`. */
function qualifiedOf({ resource, subresource }: RequestedResource): string {
  return subresource === undefined ? resource : `${resource}/${subresource}`;
}
