import { isJsonObject, type Json } from '../core/json.ts';
import { isApiRefusal, noSuchMethod } from './kinds/api-status.ts';
import type { SimVerb } from './kinds/embedded-cluster.ts';
import { apiCallerOf } from './requests/api-caller.ts';
import { answerJson, answerRefusal } from './requests/send-answer.ts';
import type { ResourceContext } from './requests/sim-server.ts';
import { readRequestObject } from './writes/write-request.ts';

/** Answers the creation of a review of the caller's identity or access. Reviews are never stored. */
export async function answerReview(context: ResourceContext): Promise<void> {
  const { kind } = context.target.storage;
  const read = await readRequestObject(context);
  if (isApiRefusal(read)) return answerRefusal(context, read);
  const start = { kind: kind.kind, apiVersion: 'authorization.k8s.io/v1', metadata: {} };
  if (kind.kind === 'SelfSubjectReview') {
    return answerJson(
      context,
      201,
      JSON.stringify({ ...start, apiVersion: 'authentication.k8s.io/v1', status: { userInfo: apiCallerOf(context) } }),
    );
  }
  if (kind.kind !== 'SelfSubjectAccessReview') return answerRefusal(context, noSuchMethod);
  const spec = isJsonObject(read.object.spec) ? read.object.spec : {};
  const status = isAllowed(context, spec.resourceAttributes) ? { allowed: true } : { allowed: false };
  answerJson(context, 201, JSON.stringify({ ...start, spec, status }));
}

/** True if the caller may do what the attributes of the review describe. Non-resource requests are always allowed. */
function isAllowed({ server, request }: ResourceContext, attributes: Json | undefined): boolean {
  if (!isJsonObject(attributes)) return true;
  const text = (key: string) => (typeof attributes[key] === 'string' ? attributes[key] : '');
  const [group, resource, namespace] = [text('group'), text('resource'), text('namespace')];
  const kind = server.state.storage(group, resource)?.kind.kind;
  const action = { verb: text('verb') as SimVerb, group, resource, ...(namespace === '' ? {} : { namespace }) };
  return !server.hooks.isForbidden?.(request.user ?? '', action, kind);
}
