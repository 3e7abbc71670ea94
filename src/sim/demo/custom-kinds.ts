import type { JsonObject } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { kubernetesTime } from '../controllers/world.ts';

const dayMs = 86_400_000;

/** Returns the definitions and objects of two custom kinds: Certificates, one of which expires soon, and Widgets. */
export function customKindsAt(nowMs: number): {
  readonly definitions: readonly KubernetesObject[];
  readonly objects: readonly KubernetesObject[];
} {
  const objects = [
    ...certificates.map((certificate) => certificateOf(certificate, nowMs)),
    ...['press', 'lathe', 'kiln'].map((name, index) => widgetOf(name, index, nowMs)),
  ];
  return { definitions: [certificateDefinition, widgetDefinition], objects };
}

const text: JsonObject = { type: 'string' };
const time: JsonObject = { type: 'string', format: 'date-time' };
const integer: JsonObject = { type: 'integer', format: 'int64' };

const conditions: JsonObject = {
  type: 'array',
  description: 'The current state of the object.',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status'],
    properties: { type: text, status: text, reason: text, message: text, lastTransitionTime: time },
  },
};

const certificateDefinition = definitionOf({
  group: 'pki.shop.example',
  kind: 'Certificate',
  plural: 'certificates',
  shortNames: ['cert'],
  spec: {
    type: 'object',
    required: ['secretName', 'dnsNames'],
    properties: {
      secretName: { type: 'string', description: 'The Secret that holds the key and the certificate.' },
      dnsNames: { type: 'array', items: text, description: 'The host names that the certificate is valid for.' },
      issuer: { type: 'object', properties: { name: text, kind: text } },
      renewBeforeDays: {
        ...integer,
        description: 'The number of days before the end of its validity at which the certificate is renewed.',
      },
    },
  },
  status: { type: 'object', properties: { notBefore: time, notAfter: time, revision: integer, conditions } },
});

const widgetDefinition = definitionOf({
  group: 'example.com',
  kind: 'Widget',
  plural: 'widgets',
  shortNames: ['wd'],
  spec: {
    type: 'object',
    required: ['size'],
    properties: {
      size: { ...integer, description: 'The size in millimetres.' },
      colour: { type: 'string', description: 'The colour of the paint.' },
      parts: { type: 'array', items: { type: 'object', properties: { name: text, count: integer } } },
    },
  },
  status: { type: 'object', properties: { temperature: { type: 'number' }, produced: integer, conditions } },
});

interface Definition {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly spec: JsonObject;
  readonly status: JsonObject;
}

function definitionOf({ group, kind, plural, shortNames, spec, status }: Definition): KubernetesObject {
  const schema = { type: 'object', description: `${kind}s of the demo.`, properties: { spec, status } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List`, shortNames, categories: ['all'] },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } }],
      conversion: { strategy: 'None' },
    },
  };
}

interface IssuedCertificate {
  readonly name: string;
  readonly namespace: string;
  readonly daysLeft: number;
}

const certificates: readonly IssuedCertificate[] = [
  { name: 'www', namespace: 'shop', daysLeft: 61 },
  { name: 'checkout', namespace: 'shop', daysLeft: 3 },
  { name: 'ledger', namespace: 'payments', daysLeft: 24 },
];

function certificateOf({ name, namespace, daysLeft }: IssuedCertificate, nowMs: number): KubernetesObject {
  const isDue = daysLeft < 15;
  const condition = isDue
    ? { status: 'False', reason: 'RenewalFailed', message: 'the issuer answered 429: too many orders this week' }
    : { status: 'True', reason: 'Issued', message: 'the certificate is up to date' };
  return {
    apiVersion: 'pki.shop.example/v1',
    kind: 'Certificate',
    metadata: { name, namespace, creationTimestamp: kubernetesTime(nowMs - 200 * dayMs), labels: { team: namespace } },
    spec: {
      secretName: `${name}-tls`,
      dnsNames: [`${name}.shop.example`],
      issuer: { name: 'public', kind: 'Issuer' },
      renewBeforeDays: 15,
    },
    status: {
      notBefore: kubernetesTime(nowMs - (90 - daysLeft) * dayMs),
      notAfter: kubernetesTime(nowMs + daysLeft * dayMs),
      revision: 3,
      conditions: [{ type: 'Ready', ...condition, lastTransitionTime: kubernetesTime(nowMs - dayMs) }],
    },
  };
}

function widgetOf(name: string, index: number, nowMs: number): KubernetesObject {
  const colours = ['red', 'green', 'blue'];
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: {
      name,
      namespace: 'shop',
      creationTimestamp: kubernetesTime(nowMs - (index + 2) * dayMs),
      labels: { line: String(index + 1) },
    },
    spec: { size: 40 * (index + 1), colour: colours[index] ?? 'grey', parts: [{ name: 'bolt', count: 4 + index }] },
    status: { temperature: 20, produced: 1_000 * index },
  };
}
