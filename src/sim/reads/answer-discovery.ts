import { apiRefusal, noSuchResource } from '../kinds/api-status.ts';
import { wantsAggregated } from '../requests/media-type.ts';
import type { RequestTarget } from '../requests/request-target.ts';
import { answerJson, answerRefusal, answerText } from '../requests/send-answer.ts';
import type { AnswerContext } from '../requests/sim-server.ts';
import { aggregatedDiscovery, aggregatedType, plainDiscovery, resourceDocument, type ServedKinds } from './discovery-documents.ts';

/** Answers discovery: `/api`, `/apis` and their paths down to a version. */
export async function answerDiscovery(context: AnswerContext, target: RequestTarget & { readonly type: 'discovery' }): Promise<void> {
  const { server, request, outlet } = context;
  const served: ServedKinds = { kinds: server.state.storages().map(({ kind }) => kind), hooks: server.hooks, host: server.host };
  const { root, group, version } = target;
  if (group !== undefined && version !== undefined)
    return answerJson(context, 200, JSON.stringify(resourceDocument(served, group, version)));
  if (group === undefined && wantsAggregated(request.headers.accept)) {
    const { text, etag } = aggregatedDiscovery(served, root);
    const headers = { 'content-type': aggregatedType, 'cache-control': 'public', etag, vary: 'Accept' };
    if (request.headers['if-none-match'] !== etag) return answerJson(context, 200, text, headers);
    outlet.head(304, { etag, vary: 'Accept', 'cache-control': 'public' });
    return outlet.end();
  }
  const document = plainDiscovery(served, root, group);
  if (document === undefined) answerRefusal(context, noSuchResource);
  else answerJson(context, 200, JSON.stringify(document));
}

/** Answers `/version`. */
export function answerVersion(context: AnswerContext): void {
  const { gitVersion } = context.server;
  const [, major = '1', minor = '0'] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  const build = {
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'go1.26',
    compiler: 'gc',
    platform: 'linux/amd64',
  };
  answerJson(context, 200, JSON.stringify({ major, minor, gitVersion, ...build }));
}

/** Answers an unknown path. */
export function answerUnknown(context: AnswerContext): void {
  answerText(context, 404, '404 page not found\n');
}

/** The answer of an aggregator whose API server is down. */
export const unavailableRefusal = apiRefusal(503, 'error trying to reach service: dial tcp 10.0.0.1:443: connect: connection refused');
