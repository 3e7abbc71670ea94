import type { Fault } from '../core/faults.ts';
import type { Json } from '../core/json.ts';
import { breakage, faultOf } from './classify.ts';
import type { ClusterApi, LiveRequest } from './cluster-api.ts';

export type JsonAnswer =
  /** 304 where `ifNoneMatch` was sent. */
  | { readonly type: 'unchanged' }
  | { readonly type: 'answered'; readonly value: Json; readonly etag?: string }
  | { readonly type: 'failed'; readonly fault: Fault };

/** A live call whose answer is parsed. What is no JSON is `MALFORMED`. */
export async function askJson(api: ClusterApi, request: LiveRequest, signal: AbortSignal): Promise<JsonAnswer> {
  const answer = await api.send(request, signal);
  if (answer.type === 'failed') return answer;
  if (answer.status === 304) return { type: 'unchanged' };
  try {
    const value = JSON.parse(Buffer.from(answer.body).toString('utf8')) as Json;
    return { type: 'answered', value, ...(answer.etag === undefined ? {} : { etag: answer.etag }) };
  } catch {
    return { type: 'failed', fault: faultOf(breakage('MALFORMED', 'expected JSON, got something else'), { cluster: api.cluster }) };
  }
}
