import {
  type ApiRefusal,
  apiRefusal,
  forbidden,
  invalidObject,
  statusDocument,
  statusReasonOf,
  tooOld,
} from '../../../src/sim/kinds/api-status.ts';
import type { SimKind } from '../../../src/sim/kinds/built-in-kinds.ts';
import { expiredList } from '../../../src/sim/reads/answer-list.ts';
import type { ResponseOutlet } from '../../../src/sim/requests/response-outlet.ts';
import { answerJson, answerRefusal, streamHeaders } from '../../../src/sim/requests/send-answer.ts';
import type { AnswerContext, SimHooks } from '../../../src/sim/requests/sim-server.ts';
import type { Behaviour } from './behaviour.ts';
import type { SimAnswer, StatusError, StreamingFault, WriteRefusal } from './misbehaviours.ts';
import { PacedOutlet } from './paced-outlet.ts';
import type { RequestLog } from './request-log.ts';
import { factsOf, type RequestFacts } from './rule-set.ts';

type Answer = (context: AnswerContext) => Promise<void>;

/** Creates hooks that answer by the misbehaviours in force, else as an API server does. */
export function misbehavingHooks(behaviour: Behaviour, log: RequestLog): SimHooks {
  return {
    around(context, answer) {
      const facts = factsOf(context.target, context.request.path);
      const logged = log.begin(context);
      const onHead = (status: number) => {
        logged.status = status;
      };
      const outlet = new PacedOutlet(context.outlet, { behaviour, facts, clock: context.server.state.clock, onHead });
      return answerOrMisbehave({ ...context, outlet }, { behaviour, facts, answer });
    },
    isForbidden: (user, action, kind) => behaviour.isForbidden(user, action, kind),
    isUnavailable: (group) => behaviour.isBroken(group),
    refuseWrite({ target, request }, next) {
      const wanted = behaviour.refusals.take(factsOf(target, request.path));
      return wanted === undefined ? undefined : refusalFor(target.storage.kind, next.metadata.name, wanted);
    },
  };
}

interface Misbehaving {
  readonly behaviour: Behaviour;
  readonly facts: RequestFacts;
  readonly answer: Answer;
}

async function answerOrMisbehave(context: AnswerContext, misbehaving: Misbehaving): Promise<void> {
  const { behaviour, facts, answer } = misbehaving;
  const { server, outlet, target } = context;
  const delayMs = behaviour.delays.find(facts);
  if (delayMs !== undefined) await server.state.clock.sleep(delayMs, outlet.signal);
  if (outlet.signal.aborted) return;
  const location = behaviour.redirects.find(facts);
  if (location !== undefined) return answerJson(context, 302, '', { location });
  const scripted = behaviour.answers.take(facts);
  if (scripted !== undefined) return answerScripted(context, scripted);
  const verb = target.type === 'resource' ? target.resource.verb : undefined;
  if (verb === 'watch') return answerWatch(context, misbehaving);
  const isExpired = verb === 'list' && namesVersion(context) && !context.query.get('continue') && behaviour.expiredLists.take(facts);
  return isExpired ? answerRefusal(context, expiredList) : answer(context);
}

/** True for a request at an earlier version. */
function namesVersion({ query }: AnswerContext): boolean {
  const version = query.get('resourceVersion') ?? '';
  return version !== '' && version !== '0';
}

async function answerWatch(context: AnswerContext, { behaviour, facts, answer }: Misbehaving): Promise<void> {
  const { server, outlet, query } = context;
  const expired = namesVersion(context) ? behaviour.expirations.take(facts) : undefined;
  const gone = tooOld(query.get('resourceVersion') ?? '', server.state.revision);
  if (expired === 'status') return answerRefusal(context, gone);
  const error = expired === 'event' ? undefined : behaviour.errors.take(facts);
  const failure = expired === 'event' ? gone : error === undefined ? undefined : refusalOf(error);
  if (failure !== undefined || behaviour.closesAtOnce.find(facts) !== undefined) {
    outlet.head(200, streamHeaders);
    if (failure !== undefined) void outlet.write(`{"type":"ERROR","object":${JSON.stringify(statusDocument(failure))}}\n`);
    return outlet.end();
  }
  const fault = behaviour.streaming.find(facts);
  // Kubernetes 1.33 has no WatchList.
  if (fault?.type === 'refused') return answer({ ...context, server: { ...server, gitVersion: 'v1.33.0' } });
  if (fault === undefined || !query.has('sendInitialEvents')) return answer(context);
  return answer({ ...context, outlet: withStreamingFault(context, fault, () => behaviour.streaming.take(facts) !== undefined) });
}

/** Wraps the outlet so that the initial events of a WatchList have this fault. `take` counts a use of the fault. */
function withStreamingFault({ outlet, server }: AnswerContext, fault: StreamingFault, take: () => boolean): ResponseOutlet {
  const { clock } = server.state;
  const initial: string[] = [];
  let isInitial = true;
  const write = (bytes: Uint8Array | string): Promise<void> => {
    if (!isInitial || typeof bytes !== 'string') return outlet.write(bytes);
    const ends = bytes.includes('"k8s.io/initial-events-end":"true"');
    if (fault.type === 'dying' && !ends) {
      initial.push(bytes);
      return Promise.resolve();
    }
    if (!ends) return outlet.write(bytes);
    isInitial = false;
    if (fault.type === 'dying') {
      const dies = take();
      for (const line of dies ? initial.slice(0, initial.length >> 1) : [...initial, bytes]) void outlet.write(line);
      if (dies) outlet.reset();
    }
    if (fault.type === 'late') {
      void clock.sleep(fault.delayMs, outlet.signal).then(() => {
        const version = `"resourceVersion":"${server.state.visibleRevision}"`;
        if (!outlet.signal.aborted) void outlet.write(bytes.replace(/"resourceVersion":"\d+"/, version));
      });
    }
    return Promise.resolve();
  };
  return {
    signal: outlet.signal,
    head: (status, headers) => outlet.head(status, headers),
    write,
    end: () => outlet.end(),
    reset: () => outlet.reset(),
    room: () => outlet.room(),
  };
}

/** Sends a scripted answer: its body unchanged, or the Status of its code. */
function answerScripted(context: AnswerContext, { status, headers = {}, body }: SimAnswer): void {
  const { outlet } = context;
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const reason = statusReasonOf(status);
  const standard: ApiRefusal = { code: status, message: `sent by the cluster: ${status}`, ...(reason === undefined ? {} : { reason }) };
  const content = body ?? (status >= 400 ? statusDocument(standard) : '');
  const isRaw = typeof content === 'string' || content instanceof Uint8Array;
  const bytes = isRaw ? Buffer.from(content) : Buffer.from(JSON.stringify(content));
  outlet.head(status, { 'content-type': 'application/json', ...own });
  if (bytes.length > 0) void outlet.write(bytes);
  outlet.end();
}

/** Returns the Status of an ERROR event that a test requested. */
export function refusalOf({
  code,
  reason = statusReasonOf(code),
  message = `sent by the cluster: ${code}`,
  retryAfterSeconds,
}: StatusError): ApiRefusal {
  return {
    code,
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
  };
}

function refusalFor(kind: SimKind, name: string, wanted: WriteRefusal): ApiRefusal {
  switch (wanted.type) {
    case 'quota':
      return forbidden(kind, `exceeded quota: ${wanted.quota ?? 'compute'}, requested: pods=1, used: pods=10, limited: pods=10`, name);
    case 'invalid': {
      const { field, message = 'Invalid value: "": refused by the cluster' } = wanted;
      return invalidObject({ kind: kind.kind, group: kind.group, name }, [{ reason: 'FieldValueInvalid', message, field }]);
    }
    case 'webhookTimeout': {
      const webhook = wanted.webhook ?? 'policy.example.com';
      const why = `failed calling webhook "${webhook}": failed to call webhook: Post "https://${webhook}/validate?timeout=10s": context deadline exceeded`;
      return { ...apiRefusal(500, `Internal error occurred: ${why}`), details: { causes: [{ reason: '', message: why }] } };
    }
    case 'denied': {
      const { webhook = 'policy.example.com', message = 'not allowed here' } = wanted;
      return { ...apiRefusal(403, `admission webhook "${webhook}" denied the request: ${message}`) };
    }
    default:
      return wanted satisfies never;
  }
}
