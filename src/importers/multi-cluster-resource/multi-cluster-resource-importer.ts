import { structureSchema } from '../../core/json/documents.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';
import { groupOfApiVersion } from '../../core/kinds.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { isList } from '../../manifests/read-manifests.ts';
import { clusterReferences, wrongTypeNote } from '../clusters/cluster-references.ts';
import { importClustersOf } from '../clusters/import-clusters.ts';
import { knownClusters } from '../clusters/known-clusters.ts';
import { adaptedPatch } from '../documents/adapted-patch.ts';
import { holdsSecret } from '../documents/holds-secret.ts';
import { isSourceObject, namespaceProblem, type ObjectDocument, type SourceDocument } from '../documents/source-documents.ts';
import { errorNote, infoNote, secretNote, warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import type { ImportContext, Importer, Proposal, Translation } from '../model/importer.ts';
import { type ProposalOutcome, translateEach } from '../model/translate-each.ts';
import { type FieldShape, unknownFieldNotes } from '../model/unknown-fields.ts';
import { asAppliedOperation } from './applied-operation.ts';
import { type Customization, type LocatedOperation, readCustomizations } from './read-customizations.ts';

/**
 * Translates MultiClusterResources: each becomes a Propagation of the same namespace and name. Names of clusters that are unknown to Muster
 * are left out, as by their operator, in exact mode and for resources that Muster keeps in sync.
 */
export const multiClusterResourceImporter: Importer = { system: 'MultiClusterResource', translate };

function translate(documents: readonly SourceDocument[], context: ImportContext): Steps<Translation> {
  const objects = documents.filter(isSourceObject).filter(isMultiClusterResource);
  return translateEach(objects.map((document) => ({ document, propose: () => proposalOf(document, context) })));
}

function isMultiClusterResource({ key: { apiVersion, kind } }: ObjectDocument): boolean {
  return kind === 'MultiClusterResource' && groupOfApiVersion(apiVersion) === 'mulitcluster.practice.com';
}

const shape: FieldShape = {
  template: 'any',
  placement: { clusters: [{ name: 'any' }] },
  customize: { clusters: [{ name: 'any', action: [{ path: 'any', op: 'any', value: 'any' }] }] },
};

const placementSchema = structureSchema({ clusters: clusterReferences.exactOptional() });

function proposalOf(document: ObjectDocument, context: ImportContext): ProposalOutcome {
  const { key, object, path } = document;
  const refused = (note: ImportNote): ProposalOutcome => ({ result: 'refused', note });
  const spec = valueAt(object, 'spec');
  const template = valueAt(spec, 'template');
  const problem = holdsSecret(object) ? secretNote(`${path}.spec.template`) : templateProblem(template, `${path}.spec.template`);
  if (problem !== undefined || !isJsonObject(template)) return refused(problem ?? errorNote('INVALID', path, 'expected a template'));
  const wrongPlacement = wrongTypeNote(placementSchema, valueAt(spec, 'placement'), `${path}.spec.placement`);
  if (wrongPlacement !== undefined) return refused(wrongPlacement);
  const read = readCustomizations(valueAt(spec, 'customize'), `${path}.spec.customize`);
  if (read.result === 'refused') return refused(errorNote('INVALID', read.path, read.message));
  const { clusters, notes } = clustersOf(document, context);
  const placed = { template, clusters: new Set(clusters) };
  const overrides = mergedByCluster(read.customizations).map((customization) => overrideOf(customization, placed));
  const proposal: Proposal = {
    namespace: key.namespace,
    name: key.name,
    spec: {
      template: [{ json: template }],
      placement: { clusters },
      overrides: overrides.map(({ override }) => override).filter((override) => override !== undefined),
      // The operator overwrites existing objects.
      conflict: 'Adopt',
      ...(context.isExact ? { exact: { system: 'MultiClusterResource' }, write: 'Replace' } : {}),
    },
    documents: [{ document, role: 'TEMPLATE' }],
    notes: [...unknownFieldNotes(spec, shape, `${path}.spec`), ...notes, ...overrides.flatMap((one) => one.notes)],
  };
  return { result: 'proposed', proposal };
}

function templateProblem(template: JsonObject[string], path: string): ImportNote | undefined {
  if (!isJsonObject(template)) return errorNote('INVALID', path, 'expected a manifest');
  if (isList(template)) return errorNote('INVALID', path, 'expected one object, got a list of them');
  const missing = [['apiVersion'], ['kind'], ['metadata', 'name']].find((keys) => (textAt(template, ...keys) ?? '') === '');
  if (missing !== undefined) return errorNote('INVALID', `${path}.${missing.join('.')}`, 'expected a text');
  const problem = namespaceProblem(template, path);
  return problem && errorNote('INVALID', problem.path, problem.message);
}

interface PlacedClusters {
  readonly clusters: readonly string[];
  readonly notes: readonly ImportNote[];
}

/** Returns the clusters of a resource. If no name is usable, the resource goes to the main cluster of the operator, which is the hub. */
function clustersOf({ object, path }: ObjectDocument, context: ImportContext): PlacedClusters {
  const { hub } = context;
  const at = `${path}.spec.placement`;
  const named = listAt(object, 'spec', 'placement', 'clusters').map((cluster, index) => ({
    name: textAt(cluster, 'name') ?? '',
    path: `${at}.clusters[${index}].name`,
  }));
  const { names, notes } = knownClusters(importClustersOf(context, 'MultiClusterResource'), named);
  if (names.length > 0) return { clusters: names, notes };
  const message =
    hub === undefined
      ? 'the operator places it in its main cluster, as no cluster is named; the gateway has no hub to take its place'
      : `the operator places it in its main cluster, as no cluster is named; here this is the hub, ${hub}`;
  return { clusters: hub === undefined ? [] : [hub], notes: [...notes, infoNote('MASTER', at, message)] };
}

/** Joins several customizations of one cluster in their order. */
function mergedByCluster(customizations: readonly Customization[]): readonly Customization[] {
  const merged = new Map<string, Customization>();
  for (const { cluster, at, operations } of customizations) {
    const before = merged.get(cluster);
    merged.set(cluster, { cluster, at: before?.at ?? at, operations: [...(before?.operations ?? []), ...operations] });
  }
  return [...merged.values()];
}

interface ImportedCustomization {
  readonly override?: JsonObject;
  readonly notes: readonly ImportNote[];
}

function overrideOf(
  { cluster, at, operations }: Customization,
  { template, clusters }: { readonly template: JsonObject; readonly clusters: ReadonlySet<string> },
): ImportedCustomization {
  if (!clusters.has(cluster)) {
    const message = `${JSON.stringify(cluster)} is not in placement.clusters, so nothing is customized there`;
    return { notes: [warningNote('OUTSIDE_PLACEMENT', at, message)] };
  }
  if (operations.length === 0) return { notes: [] };
  const written = operations.map(({ operation }) => operation);
  const adapted = adaptedPatch(template, written, asAppliedOperation);
  const replaced = adapted.changed.flatMap((index) => operations[index] ?? []).filter(({ operation }) => operation.op === 'replace');
  const jsonPatch = adapted.operations.map((operation) => ({ ...operation }));
  return {
    override: { set: { clusters: [cluster] }, jsonPatch },
    notes: [...replaced.map(addsNote), ...operations.filter(({ operation }) => operation.path.endsWith('/-')).map(writesTwiceNote)],
  };
}

function addsNote({ operation: { path }, at }: LocatedOperation): ImportNote {
  return infoNote('REPLACE_ADDS', at, `the template has no ${path} to replace, so the operation became an add`);
}

function writesTwiceNote({ operation: { path }, at }: LocatedOperation): ImportNote {
  return infoNote('WRITES_TWICE', at, `the operator adds another element to ${path.slice(0, -2)} at each of its passes; Muster adds one`);
}
