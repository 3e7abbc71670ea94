import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { textsOf } from '../core/stored.ts';
import { isAuthorized } from './authorize.ts';
import { isApiRefusal, noSuchMethod } from './kinds/api-status.ts';
import type { SimVerb } from './kinds/embedded-cluster.ts';
import { type ApiCaller, apiCallerOf } from './requests/api-caller.ts';
import { answerJson, answerRefusal } from './requests/send-answer.ts';
import type { DesiredAction, ResourceContext } from './requests/sim-server.ts';
import { readRequestObject } from './writes/write-request.ts';

/** Answers the creation of a review of an identity or of access. Reviews are never stored. */
export async function answerReview(context: ResourceContext): Promise<void> {
  const { kind } = context.target.storage;
  const read = await readRequestObject(context);
  if (isApiRefusal(read)) return answerRefusal(context, read);
  const start = { kind: kind.kind, apiVersion: 'authorization.k8s.io/v1', metadata: {} };
  const caller = apiCallerOf(context);
  if (isApiRefusal(caller)) return answerRefusal(context, caller);
  if (kind.kind === 'SelfSubjectReview') {
    return answerJson(context, 201, JSON.stringify({ ...start, apiVersion: 'authentication.k8s.io/v1', status: { userInfo: caller } }));
  }
  const spec = isJsonObject(read.object.spec) ? read.object.spec : {};
  const reviewed = reviewedCallerOf(kind.kind, caller, spec);
  if (reviewed === undefined) return answerRefusal(context, noSuchMethod);
  const status = { allowed: isAllowed(context, reviewed, spec.resourceAttributes) };
  answerJson(context, 201, JSON.stringify({ ...start, spec, status }));
}

/**
 * Returns the user whom a review is about, with the groups that the review names and no others. Undefined for a kind that is not answered.
 */
function reviewedCallerOf(kind: string, caller: ApiCaller, { user, groups }: JsonObject): ApiCaller | undefined {
  if (kind === 'SelfSubjectAccessReview') return caller;
  if (kind !== 'SubjectAccessReview') return undefined;
  return { username: typeof user === 'string' ? user : '', groups: textsOf(Array.isArray(groups) ? (groups as readonly string[]) : []) };
}

/** True if the user may do what the attributes of the review describe. Non-resource requests are always allowed. */
function isAllowed({ server }: ResourceContext, reviewed: ApiCaller, attributes: Json | undefined): boolean {
  if (!isJsonObject(attributes)) return true;
  const text = (key: string) => (typeof attributes[key] === 'string' && attributes[key] !== '' ? attributes[key] : undefined);
  const required = { verb: text('verb') as SimVerb, group: text('group') ?? '', resource: text('resource') ?? '' };
  const optional = Object.entries({ namespace: text('namespace'), name: text('name'), subresource: text('subresource') });
  const action: DesiredAction = { ...required, ...Object.fromEntries(optional.filter(([, value]) => value !== undefined)) };
  return isAuthorized(server, reviewed, action);
}
