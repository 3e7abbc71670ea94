import { z } from 'zod';
import { checkedSchema, listSchema, type ReportProblem, structureSchema, translatedSchema, typeError } from '../../core/json/documents.ts';
import { anyText, clusterText, graphqlHints, rules, text } from '../../core/json/field-definitions.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { isPathSegment } from '../../core/names.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { kindTextOf } from '../../manifests/pod-specs.ts';
import { type ManifestsRead, readManifestJson, readManifestText } from '../../manifests/read-manifests.ts';
import { objectKeyFields, withKey } from './object-key-definition.ts';

const ref = checkedSchema(
  structureSchema({
    cluster: clusterText.describe('The cluster that the object is read from.'),
    ...objectKeyFields,
    uid: anyText.exactOptional().describe('Only the object with this uid.'),
  }).register(graphqlHints, { name: 'ResourceRef' }),
  ({ name, namespace }, report) => {
    if (!isPathSegment(name)) report('expected the name of an object', 'name');
    if (namespace !== undefined && !isPathSegment(namespace)) report('expected the name of a namespace', 'namespace');
  },
);

const named = (max: number) => ({ type: 'string', minLength: 1, maxLength: max });

const manifest = z
  .custom<JsonObject>(isJsonObject, typeError('an object'))
  .register(graphqlHints, { scalar: 'JSON' })
  .meta({
    type: 'object',
    required: ['apiVersion', 'kind', 'metadata'],
    properties: {
      apiVersion: named(253),
      kind: named(63),
      metadata: { type: 'object', required: ['name'], 'x-kubernetes-preserve-unknown-fields': true, properties: { name: named(253) } },
    },
    'x-kubernetes-preserve-unknown-fields': true,
    ...rules([
      `self.kind != 'Secret' || self.apiVersion != 'v1'`,
      'expected a Secret by ref only: every reader of the intent could read its data',
    ]),
  });

const source = structureSchema({
  json: manifest
    .exactOptional()
    .describe('The manifest. Secrets are refused, because every reader of the Propagation could read their data.'),
  yaml: text(1_500_000).exactOptional().describe('One or several manifests as YAML text, read as kubectl reads it. Secrets are refused.'),
  ref: ref
    .exactOptional()
    .describe(
      'An existing object of a cluster, read with the identity of `runAs`. Muster follows its changes, except where a requester acts with rights of their own: then they are only reported. Secrets are possible only in this way.',
    ),
})
  .register(graphqlHints, { name: 'TemplateInput', isOneOf: true })
  .meta({
    description: 'One source of objects to propagate: exactly one of json, yaml and ref.',
    ...rules(['(has(self.json) ? 1 : 0) + (has(self.yaml) ? 1 : 0) + (has(self.ref) ? 1 : 0) == 1', 'expected one of json, yaml and ref']),
  });

type Source = z.output<typeof source>;

/** Maximum number of objects in a template (docs/internals/propagation.md 2.1). */
export const maxTemplateObjects = 20;

/** The objects to propagate: 1 to 20. One YAML text may hold several manifests. Manifests that came as YAML are printed as `json`. */
export const template = translatedSchema(listSchema(source, { min: 1, max: maxTemplateObjects }), {
  decode(written, report): readonly TemplateSource[] {
    const sources = written.flatMap((one, index) => sourcesOf(one, (message, ...path) => report(message, index, ...path)));
    if (sources.length > maxTemplateObjects) report(`expected at most ${maxTemplateObjects} objects, got ${sources.length}`);
    return sources;
  },
  encode: (sources) => sources.map(writtenOf),
});

function sourcesOf({ json, yaml, ref: to }: Source, report: ReportProblem): readonly TemplateSource[] {
  if ([json, yaml, to].filter((one) => one !== undefined).length !== 1) {
    report('expected one of json, yaml and ref');
    return [];
  }
  if (to !== undefined) {
    const [key, rest] = withKey(to);
    return [{ type: 'ref', key, ...rest }];
  }
  const [member, read] = json === undefined ? ['yaml', readManifestText(yaml ?? '')] : ['json', readManifestJson(json)];
  return sourcesIn(read, (message, path) => report(message, member, path ?? ''));
}

function sourcesIn(read: ManifestsRead, report: ReportProblem): readonly TemplateSource[] {
  if (read.result === 'refused') {
    report(read.message, read.path);
    return [];
  }
  const { manifests } = read;
  manifests.forEach((one, index) => {
    if (kindTextOf(one) !== 'Secret') return;
    const path = manifests.length === 1 ? '' : `[${index}]`;
    report('expected a Secret by ref only: every reader of the intent could read its data', path);
  });
  return manifests.map((one) => ({ type: 'manifest', manifest: one }));
}

function writtenOf(from: TemplateSource): Source {
  switch (from.type) {
    case 'manifest':
      return { json: from.manifest };
    case 'ref':
      return { ref: { cluster: from.cluster, ...from.key, ...(from.uid === undefined ? {} : { uid: from.uid }) } };
    default:
      return from satisfies never;
  }
}

export type TemplateSource =
  | { readonly type: 'manifest'; readonly manifest: Manifest }
  /**
   * A reference to an existing object. It is read with the identity of `runAs`, and Muster follows its changes (`isForOneGeneration` has the
   * exception). The only way to propagate a Secret.
   */
  | { readonly type: 'ref'; readonly cluster: string; readonly key: ObjectKey; readonly uid?: string };
