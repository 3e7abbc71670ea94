import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { type Refusal, refusal } from './api-status.ts';
import type { SimKind } from './built-in-kinds.ts';

/** True for the labels, or for the object, that are selected. */
export type LabelTest = (labels: Readonly<Record<string, string>>) => boolean;
export type FieldTest = (object: JsonObject) => boolean;

const key = '[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?';
const presence = new RegExp(`^(!?)\\s*(${key})$`);
const equality = new RegExp(`^(${key})\\s*(==|=|!=)\\s*([A-Za-z0-9]?[-A-Za-z0-9_.]*)$`);
const membership = new RegExp(`^(${key})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);

/** Parses `labelSelector`. Undefined for one that selects everything. */
export function parseLabelSelector(text: string): LabelTest | undefined | Refusal {
  if (text.trim() === '') return undefined;
  const tests: LabelTest[] = [];
  for (const part of text.split(/,(?![^(]*\))/)) {
    const test = parseRequirement(part.trim());
    if (test === undefined)
      return refusal(400, `unable to parse requirement: found '${part.trim()}', expected: a key, !key, =, ==, !=, in, notin`);
    tests.push(test);
  }
  return (labels) => tests.every((test) => test(labels));
}

function parseRequirement(text: string): LabelTest | undefined {
  const exists = presence.exec(text);
  if (exists !== null) {
    const [, not, name = ''] = exists;
    return (labels) => Object.hasOwn(labels, name) === (not === '');
  }
  const equal = equality.exec(text);
  if (equal !== null) return memberOf(equal[1] ?? '', [equal[4] ?? ''], equal[3] === '!=' ? 'notin' : 'in');
  const member = membership.exec(text);
  if (member === null) return undefined;
  const values = (member[4] ?? '').split(',').map((value) => value.trim());
  return memberOf(member[1] ?? '', values, member[3] === 'in' ? 'in' : 'notin');
}

function memberOf(name: string, values: readonly string[], operator: 'in' | 'notin'): LabelTest {
  return (labels) => {
    const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
    return (value !== undefined && values.includes(value)) === (operator === 'in');
  };
}

const everywhere = ['metadata.name', 'metadata.namespace'];

/** Field labels that built-in kinds support beyond name and namespace. */
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

/** Parses `fieldSelector` of a kind. Undefined for one that selects everything. */
export function parseFieldSelector(text: string, kind: SimKind): FieldTest | undefined | Refusal {
  if (text.trim() === '') return undefined;
  const own = kind.source === 'builtIn' ? fieldsByResource[kind.resource] : undefined;
  const tests: FieldTest[] = [];
  for (const term of text.split(',')) {
    const match = /^([^=!]*)(==|=|!=)(.*)$/.exec(term);
    if (match === null) return refusal(400, `invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = '', operator, value = ''] = match;
    if (!everywhere.includes(field) && !(own ?? []).includes(field)) return refusal(400, unsupported(field, kind, own));
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
