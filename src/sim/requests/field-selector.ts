import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { type ApiRefusal, apiRefusal } from '../kinds/api-status.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';

/** Returns true if the field selector selects the object. */
export type FieldTest = (object: JsonObject) => boolean;

const everywhere = ['metadata.name', 'metadata.namespace'];

/** Field labels of built-in kinds, in addition to name and namespace. */
const fieldsByResource: Readonly<Record<string, readonly string[]>> = {
  pods: [
    ...['spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName', 'spec.hostNetwork'],
    ...['status.phase', 'status.podIP', 'status.podIPs', 'status.nominatedNodeName'],
  ],
  events: [
    ...['involvedObject.kind', 'involvedObject.namespace', 'involvedObject.name', 'involvedObject.uid', 'involvedObject.apiVersion'],
    ...['involvedObject.resourceVersion', 'involvedObject.fieldPath', 'reason', 'reportingComponent', 'source', 'type'],
  ],
  nodes: ['spec.unschedulable'],
  namespaces: ['status.phase'],
  secrets: ['type'],
  services: ['spec.clusterIP', 'spec.type'],
  replicasets: ['status.replicas'],
  replicationcontrollers: ['status.replicas'],
  jobs: ['status.successful'],
  certificatesigningrequests: ['spec.signerName'],
};

/** Parses the `fieldSelector` for a kind, or returns a refusal. Undefined if it selects everything. */
export function parseFieldSelector(text: string, kind: SimKind): FieldTest | undefined | ApiRefusal {
  if (text.trim() === '') return undefined;
  const own = kind.source === 'builtIn' ? fieldsByResource[kind.resource] : undefined;
  const tests: FieldTest[] = [];
  for (const term of text.split(',')) {
    const match = /^([^=!]*)(==|=|!=)(.*)$/.exec(term);
    if (match === null) return apiRefusal(400, `invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = '', operator, value = ''] = match;
    if (!everywhere.includes(field) && !(own ?? []).includes(field)) return apiRefusal(400, unsupported(field, kind, own));
    tests.push((object) => (fieldValue(object, field) === value) === (operator !== '!='));
  }
  return (object) => tests.every((test) => test(object));
}

function unsupported(field: string, kind: SimKind, own: readonly string[] | undefined): string {
  if (kind.source === 'custom' || own !== undefined) return `field label not supported: ${field}`;
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

function fieldValue(object: JsonObject, path: string): string {
  let value: Json | undefined = object;
  for (const segment of (path === 'source' ? 'source.component' : path).split('.'))
    value = isJsonObject(value) ? value[segment] : undefined;
  return typeof value === 'object' || value === undefined ? '' : String(value);
}
