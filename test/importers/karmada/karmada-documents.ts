import { isJsonObject, type JsonObject } from '../../../src/core/json.ts';
import { clusterName } from '../../../src/core/names.ts';
import { runAtOnce } from '../../../src/core/scheduling/operation-scheduler.ts';
import type { ImportedPropagation, ImportResult } from '../../../src/importers/model/import-result.ts';
import type { ImportContext } from '../../../src/importers/model/importer.ts';
import { importText } from '../../../src/importers/translation/import-documents.ts';

/** The clusters `member1` to `member4`, without labels. */
const members = ['member1', 'member2', 'member3', 'member4'].map((name) => ({ name: clusterName(name), labels: {} }));

/** Imports documents of YAML. They are joined in the given order. */
export function imported(documents: string | readonly string[], context: Partial<ImportContext> = {}): ImportResult {
  return runAtOnce(importText([documents].flat().join('\n---\n'), { isExact: false, clusters: members, ...context }));
}

/** Imports documents that give one Propagation. */
export function importedOne(documents: string | readonly string[], context: Partial<ImportContext> = {}): ImportedPropagation {
  const { propagations } = imported(documents, context);
  const [one] = propagations;
  if (one === undefined || propagations.length > 1) throw new Error(`expected one Propagation, got ${JSON.stringify(propagations)}`);
  return one;
}

/** Returns the input of a Propagation without its template and its origin. */
export function inputOfOne(documents: string | readonly string[], context: Partial<ImportContext> = {}): JsonObject {
  return withoutOrigin(importedOne(documents, context));
}

/** Returns the input of a Propagation without its template and its origin. */
export function withoutOrigin({ input }: ImportedPropagation): JsonObject {
  if (!isJsonObject(input)) throw new Error('expected an input');
  const { template: _template, source: _source, ...rest } = input;
  return rest;
}

/** Returns each note as `SEVERITY CODE path`. */
export function noteTexts({ notes }: Pick<ImportResult, 'notes'>): readonly string[] {
  return notes.map(({ severity, code, path = '' }) => `${severity} ${code} ${path}`);
}

/** A Deployment with an image, in the namespace `default` of the text. */
export function deployment(name: string, more = ''): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name}, labels: { app: ${name} }${more} }
spec:
  replicas: 4
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec: { containers: [{ name: web, image: 'registry.example.com/${name}:1.0' }] }`;
}

/** A ConfigMap. */
export function configMap(name: string, more = ''): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}${more} }\ndata: { key: value }`;
}

/** A PropagationPolicy for the Deployment of its name. `spec` is YAML in flow style: `placement: {}`. */
export function policyFor(name: string, spec: string): string {
  return `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: ${name} }
spec: { resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment, name: ${name} }], ${spec} }`;
}
