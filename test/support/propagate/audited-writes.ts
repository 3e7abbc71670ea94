import { readFileSync } from 'node:fs';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { textAt } from '../../../src/core/json-at.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { SeenWrite } from './write-history.ts';

/** An audit policy that records each write with its request and response. */
export const auditPolicy: JsonObject = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'RequestResponse', verbs: ['create', 'update', 'patch', 'delete'] }, { level: 'None' }],
};

/** The fields of an audit log's line that tests read. */
interface AuditEvent {
  readonly requestURI: string;
  readonly verb: string;
  readonly userAgent?: string;
  readonly objectRef?: { readonly resource: string; readonly apiGroup?: string; readonly namespace?: string; readonly name?: string };
  readonly responseStatus?: { readonly code?: number };
  readonly requestObject?: Json;
  readonly responseObject?: Json;
  readonly stageTimestamp: string;
}

/** Returns the successful writes of a real API server from its audit log, the oldest first. */
export function auditedWrites(file: string): readonly SeenWrite[] {
  const known = new Map<string, KubernetesObject>();
  const events = readFileSync(file, 'utf8')
    .split('\n')
    // The last line may be incomplete.
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AuditEvent);
  return events.flatMap((event) => {
    const { code = 0 } = event.responseStatus ?? {};
    return code >= 200 && code < 300 ? (writeOf(event, known) ?? []) : [];
  });
}

function writeOf(event: AuditEvent, known: Map<string, KubernetesObject>): SeenWrite | undefined {
  const { requestURI, verb, objectRef, requestObject, responseObject } = event;
  if (objectRef?.name === undefined && textAt(responseObject, 'metadata', 'name') === undefined) return undefined;
  const query = new URL(requestURI, 'https://server').searchParams;
  const uid = textAt(responseObject, 'metadata', 'uid') ?? textAt(responseObject, 'details', 'uid') ?? '';
  const before = known.get(uid);
  const isStatus = textAt(responseObject, 'kind') === 'Status';
  const object = isStatus ? before : (responseObject as KubernetesObject | undefined);
  if (object === undefined) return undefined;
  const isDry = query.has('dryRun');
  if (!isDry) known.set(uid, object);
  const { namespace } = objectRef ?? {};
  return {
    // All times come from the clock of one machine and have microseconds.
    atMs: Date.parse(event.stageTimestamp) + Number(event.stageTimestamp.slice(23, 26)) / 1_000,
    verb: verb as SeenWrite['verb'],
    group: objectRef?.apiGroup ?? '',
    kind: object.kind ?? textAt(requestObject, 'kind') ?? '',
    ...(namespace === undefined ? {} : { namespace }),
    name: object.metadata.name,
    // The manager as a server determines it: the one in the request, else the first word of the User-Agent.
    manager: query.get('fieldManager') ?? event.userAgent?.split('/')[0] ?? '',
    isDry,
    preconditions: preconditionsIn(verb === 'delete' ? ['preconditions'] : ['metadata'], requestObject),
    result: resultOf(event, before, object),
    object,
  };
}

function preconditionsIn(path: readonly string[], sent: Json | undefined): SeenWrite['preconditions'] {
  const uid = textAt(sent, ...path, 'uid');
  const resourceVersion = textAt(sent, ...path, 'resourceVersion');
  return { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
}

function resultOf(
  { verb, responseStatus }: AuditEvent,
  before: KubernetesObject | undefined,
  after: KubernetesObject,
): SeenWrite['result'] {
  if (verb === 'delete') return after === before ? 'deleted' : 'marked';
  if (responseStatus?.code === 201) return 'created';
  return before?.metadata.resourceVersion === after.metadata.resourceVersion ? 'unchanged' : 'changed';
}
