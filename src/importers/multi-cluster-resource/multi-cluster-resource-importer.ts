import { structureSchema } from '../../core/json/documents.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { isList } from '../../manifests/read-manifests.ts';
import { maxOverrides } from '../../propagate/model/spec-definition.ts';
import {
  convertedPatch,
  type FailingOperation,
  type LocatedPatchOperation,
  type PatchedTemplate,
} from '../api-versions/converted-patch.ts';
import { currentObjectOf, withLabelDefaults } from '../api-versions/current-api.ts';
import { clusterReferences, wrongTypeNote } from '../clusters/cluster-references.ts';
import { importClustersOf } from '../clusters/import-clusters.ts';
import { knownClusters } from '../clusters/known-clusters.ts';
import { holdsSecret } from '../documents/holds-secret.ts';
import { isSourceObject, type ObjectDocument, problemOfNames, type SourceDocument } from '../documents/source-documents.ts';
import { errorNote, infoNote, secretNote, warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import type { ImportContext, Importer, Proposal, Translation } from '../model/importer.ts';
import { type ProposalOutcome, translateEach } from '../model/translate-each.ts';
import { type FieldShape, unknownFieldNotes } from '../model/unknown-fields.ts';
import { asAppliedOperation } from './applied-operation.ts';
import { type Customization, readCustomizations } from './read-customizations.ts';
import { isMultiClusterResourceKind } from './resource-owners.ts';

/**
 * Translates MultiClusterResources: each becomes a Propagation of the same namespace and name. Names of clusters that are unknown to Muster
 * are left out, as by their operator, in exact mode and for resources that Muster keeps in sync.
 */
export const multiClusterResourceImporter: Importer = { system: 'MultiClusterResource', translate };

function translate(documents: readonly SourceDocument[], context: ImportContext): Steps<Translation> {
  const objects = documents.filter(isSourceObject).filter(({ key }) => isMultiClusterResourceKind(key));
  return translateEach(objects.map((document) => ({ document, propose: () => proposalOf(document, context) })));
}

const shape: FieldShape = {
  template: 'any',
  placement: { clusters: [{ name: 'any' }] },
  customize: { clusters: [{ name: 'any', action: [{ path: 'any', op: 'any', value: 'any' }] }] },
};

const placementSchema = structureSchema({ clusters: clusterReferences.exactOptional() });

function* proposalOf(document: ObjectDocument, context: ImportContext): Steps<ProposalOutcome> {
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
  const { object: current, notes: converted } = currentObjectOf(template, `${path}.spec.template`);
  // The operator patches the object after it was applied. Its selector then has the Pod labels from before the patch.
  const applied = current === template ? current : withLabelDefaults(template);
  const placed = { template: { written: applied, current }, clusters: new Set(clusters) };
  const customizations = mergedByCluster(read.customizations);
  const count = customizations.filter((one) => one.operations.length > 0 && placed.clusters.has(one.cluster)).length;
  // Clusters are counted before the first of them patches the template.
  if (count > maxOverrides) {
    const message = `expected customizations for at most ${maxOverrides} clusters, got ${count}`;
    return refused(errorNote('INVALID', `${path}.spec.customize.clusters`, message));
  }
  const overrides: ImportedCustomization[] = [];
  for (const customization of customizations) {
    overrides.push(overrideOf(customization, placed));
    yield;
  }
  const proposal: Proposal = {
    namespace: key.namespace,
    name: key.name,
    spec: {
      template: [{ json: current }],
      placement: { clusters },
      overrides: overrides.map(({ override }) => override).filter((override) => override !== undefined),
      // The operator overwrites existing objects.
      conflict: 'Adopt',
      ...(context.isExact ? { exact: { system: 'MultiClusterResource' }, write: 'Replace' } : {}),
    },
    documents: [{ document, role: 'TEMPLATE' }],
    notes: [...unknownFieldNotes(spec, shape, `${path}.spec`), ...converted, ...notes, ...overrides.flatMap((one) => one.notes)],
  };
  return { result: 'proposed', proposal };
}

function templateProblem(template: JsonObject[string], path: string): ImportNote | undefined {
  if (!isJsonObject(template)) return errorNote('INVALID', path, 'expected a manifest');
  if (isList(template)) return errorNote('INVALID', path, 'expected one object, got a list of them');
  const problem = problemOfNames(template, path);
  if (problem !== undefined) return errorNote('INVALID', problem.path, problem.message);
  const missing = [['apiVersion'], ['kind'], ['metadata', 'name']].find((keys) => (textAt(template, ...keys) ?? '') === '');
  return missing && errorNote('INVALID', `${path}.${missing.join('.')}`, 'expected a text');
}

interface PlacedClusters {
  readonly clusters: readonly string[];
  readonly notes: readonly ImportNote[];
}

/**
 * Returns the clusters of a resource. If no name is usable, the resource goes to the main cluster of the operator, which is the hub. If names
 * of unknown clusters stay, a note says that the operator may place the resource in its main cluster.
 */
function clustersOf({ object, path }: ObjectDocument, context: ImportContext): PlacedClusters {
  const { hub } = context;
  const at = `${path}.spec.placement`;
  const named = listAt(object, 'spec', 'placement', 'clusters').map((cluster, index) => ({
    name: textAt(cluster, 'name') ?? '',
    path: `${at}.clusters[${index}].name`,
  }));
  const fleet = importClustersOf(context, 'MultiClusterResource');
  const { names, notes } = knownClusters(fleet, named);
  if (names.some((name) => fleet.visible.has(name))) return { clusters: names, notes };
  const main = hub === undefined ? 'the gateway has no hub to take its place' : `here this is the hub, ${hub}`;
  const reason = reasonForMainCluster(named.length, names.length);
  const clusters = names.length > 0 ? names : hub === undefined ? [] : [hub];
  return {
    clusters,
    notes: [...notes, infoNote('MASTER', at, `the operator places the resource in its main cluster, ${reason}; ${main}`)],
  };
}

/** Returns why the operator uses its main cluster. `known` counts the named clusters that are left after unknown names were left out. */
function reasonForMainCluster(named: number, known: number): string {
  if (named === 0) return 'as no cluster is named';
  return known === 0 ? 'as none of the named clusters is known' : 'unless it knows one of the named clusters';
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
  { template, clusters }: { readonly template: PatchedTemplate; readonly clusters: ReadonlySet<string> },
): ImportedCustomization {
  if (!clusters.has(cluster)) {
    const message = `${JSON.stringify(cluster)} is not in placement.clusters, so nothing is customized there`;
    return { notes: [warningNote('OUTSIDE_PLACEMENT', at, message)] };
  }
  if (operations.length === 0) return { notes: [] };
  const patch = convertedPatch(template, operations, { adapt: asAppliedOperation, isAdaptedByPlan: false });
  const replaced = patch.changed.filter(({ operation }) => operation.op === 'replace');
  const appended = operations.filter(({ operation }) => operation.path.endsWith('/-'));
  return {
    override: { set: { clusters: [cluster] }, jsonPatch: patch.operations.map((operation) => ({ ...operation })) },
    notes: [
      ...replaced.map(addsNote),
      ...appended.map(writesTwiceNote),
      ...(patch.failing === undefined ? [] : [failsNote(patch.failing)]),
      ...patch.notes,
    ],
  };
}

function addsNote({ operation: { path }, at }: LocatedPatchOperation): ImportNote {
  return infoNote('REPLACE_ADDS', at, `the template has no ${path} to replace, so the operation became an add`);
}

/** The operator patches the live object, so the operation may succeed there. */
function failsNote({ problem, at }: FailingOperation): ImportNote {
  return warningNote('PATCH_FAILS', at, `${problem}: the template does not have what the operation needs, and a plan refuses it`);
}

function writesTwiceNote({ operation: { path }, at }: LocatedPatchOperation): ImportNote {
  return infoNote('WRITES_TWICE', at, `the operator adds another element to ${path.slice(0, -2)} at each of its passes; Muster adds one`);
}
