import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { valueAt } from '../../core/json-at.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { withoutValueAt } from '../../manifests/json-edits.ts';
import type { SpecDocument } from '../../propagate/model/spec.ts';
import type { PatchedTemplate } from '../api-versions/converted-patch.ts';
import type { ImportClusters } from '../clusters/import-clusters.ts';
import { type ObjectDocument, propagationNameOf } from '../documents/source-documents.ts';
import { errorNote, infoNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import type { Proposal, ProposedDocument } from '../model/importer.ts';
import type { ProposalOutcome } from '../model/translate-each.ts';
import { type FieldShape, unknownFieldNotes } from '../model/unknown-fields.ts';
import { importedDeletion } from './deletion-annotations.ts';
import { importedOverrides } from './federated-overrides.ts';
import { federatedTemplateOf } from './federated-template.ts';
import { type FederatedObject, type Federation, isAdoptionDisabled } from './federation.ts';
import { importedPlacement, placementNameNotes, placementProblem } from './import-placement.ts';
import { type PlacedObject, placeObject } from './place-object.ts';
import type { ReplicaPreference } from './replica-preference.ts';
import { type ImportedRules, importedRules } from './replica-rules.ts';
import { type TargetKind, targetKindOf } from './target-kinds.ts';

/** Translates one federated object, with its FederatedNamespace, its preference and its FederatedTypeConfig. */
export function* proposalOf(object: FederatedObject, federation: Federation, fleet: ImportClusters): Steps<ProposalOutcome> {
  const { current } = object;
  const { path, key } = current;
  const spec = valueAt(current.object, 'spec') ?? {};
  if (!isJsonObject(spec)) return { result: 'refused', note: errorNote('INVALID', `${path}.spec`, 'expected an object') };
  const problem = placementProblem(current);
  if (problem !== undefined) return { result: 'refused', note: problem };
  const { retainReplicas = null } = spec;
  if (retainReplicas !== null && typeof retainReplicas !== 'boolean')
    return { result: 'refused', note: errorNote('INVALID', `${path}.spec.retainReplicas`, 'expected true or false') };
  const target = targetKindOf(current, federation.typeConfigs);
  const template = federatedTemplateOf(current, target);
  if (template.result === 'refused') return template;
  const placed = placeObject(object, { target, federation }, fleet);
  const overridden = spec.retainReplicas === true ? withoutReplicas(template) : template;
  const overrides = yield* importedOverrides(
    { spec, path: `${path}.spec`, template: overridden, hasPreference: placed.preference !== undefined },
    fleet,
  );
  if (overrides.result === 'refused') return overrides;
  const replicas = replicasPart({ spec, path, preference: placed.preference }, fleet);
  const policies = { ...replicas.policies, ...namespacePolicies(placed, path, fleet) };
  const parts: readonly SpecPart[] = [
    {
      fields: { template: [{ json: template.current }] },
      notes: [...object.notes, ...unknownFieldNotes(spec, shape, `${path}.spec`), ...template.notes],
    },
    placementPart(current, placed, fleet),
    replicas,
    { fields: { overrides: overrides.overrides }, notes: overrides.notes },
    { fields: { conflict: isAdoptionDisabled(federation) ? 'Abort' : 'Adopt' }, notes: [] },
    deletionPart(current),
    { fields: fleet.isExact ? exactFields(key, { target, policies }) : {}, notes: [] },
  ];
  const proposal: Proposal = {
    namespace: target.isNamespaced ? key.namespace : undefined,
    name: propagationNameOf({ name: key.name, kind: target.kind }),
    // The first part contains the template.
    spec: Object.assign({}, ...parts.map(({ fields }) => fields)) as SpecDocument,
    documents: documentsOf(object, { target, placed, federation }),
    notes: parts.flatMap(({ notes }) => notes),
  };
  return { result: 'proposed', proposal };
}

function withoutReplicas(template: PatchedTemplate): PatchedTemplate {
  const { written, current } = template;
  const old = withoutValueAt(written, ['spec', 'replicas']);
  return { ...template, written: old, current: written === current ? old : withoutValueAt(current, ['spec', 'replicas']) };
}

const shape: FieldShape = {
  template: 'any',
  placement: { clusters: [{ name: 'any' }], clusterSelector: { matchLabels: 'any', matchExpressions: 'any' } },
  overrides: [{ clusterName: 'any', clusterOverrides: [{ op: 'any', path: 'any', value: 'any' }] }],
  retainReplicas: 'any',
};

/** Members of a spec, and the notes about them. */
interface SpecPart {
  readonly fields: JsonObject;
  readonly notes: readonly ImportNote[];
}

function placementPart(object: ObjectDocument, { choice, preference, notes }: PlacedObject, fleet: ImportClusters): SpecPart {
  const imported = importedPlacement(choice, object.path, fleet);
  const named = preference === undefined ? placementNameNotes(object, fleet) : [];
  return { fields: { placement: imported.placement }, notes: [...notes, ...named, ...imported.notes] };
}

interface ReplicasToImport {
  readonly spec: JsonObject;
  readonly path: string;
  readonly preference: ReplicaPreference | undefined;
}

/**
 * Returns the part of `exact.policies` about the namespace. KubeFed first divides replicas between clusters, and then drops those of
 * clusters that the FederatedNamespace does not have.
 */
function namespacePolicies({ limit }: PlacedObject, path: string, fleet: ImportClusters): JsonObject {
  return limit === undefined ? {} : { namespaceClusters: importedPlacement(limit, path, fleet).placement };
}

function replicasPart({ spec, path, preference }: ReplicasToImport, fleet: ImportClusters): SpecPart & Pick<ImportedRules, 'policies'> {
  const rules =
    preference === undefined
      ? undefined
      : importedRules({ clusters: preference.clusters, path: `${preference.document.path}.spec.clusters` }, fleet);
  const notes = [...(preference?.notes ?? []), ...(rules?.notes ?? [])];
  const isRetained = spec.retainReplicas === true;
  if (preference === undefined || rules === undefined) {
    return { fields: isRetained ? { replicas: { mode: 'External' } } : {}, policies: {}, notes };
  }
  // KubeFed applies the overrides of the preference after it has retained the count.
  const message = 'the preference sets the count at each synchronization, so retainReplicas has no effect';
  const retained = isRetained ? [infoNote('OVERRIDE_OWNED', `${path}.spec.retainReplicas`, message)] : [];
  const { totalReplicas: total, rebalance } = preference;
  const { policies } = rules;
  return { fields: { replicas: { mode: 'Divided', total, rules: rules.rules, rebalance } }, policies, notes: [...notes, ...retained] };
}

function deletionPart(object: ObjectDocument): SpecPart {
  const { deletion, notes } = importedDeletion(object);
  return { fields: Object.keys(deletion).length === 0 ? {} : { deletion }, notes };
}

function exactFields(
  { namespace = 'default', name }: ObjectDocument['key'],
  { target: { isNamespaced }, policies }: { readonly target: TargetKind; readonly policies: JsonObject },
): JsonObject {
  const key = isNamespaced ? { key: `${namespace}/${name}` } : {};
  return { exact: { system: 'Kubefed', ...key, ...(Object.keys(policies).length === 0 ? {} : { policies }) }, write: 'Replace' };
}

interface DocumentSources {
  readonly target: TargetKind;
  readonly placed: PlacedObject;
  readonly federation: Federation;
}

function documentsOf({ source }: FederatedObject, { target, placed, federation }: DocumentSources): readonly ProposedDocument[] {
  const preference = federation.preferenceOf(source)?.document;
  const optional: readonly (ProposedDocument | undefined)[] = [
    placed.namespace && { document: placed.namespace.source, role: 'PLACEMENT' },
    preference && { document: preference, role: 'SCHEDULING' },
    target.config && { document: target.config, role: 'OTHER' },
    federation.config && { document: federation.config, role: 'OTHER' },
  ];
  return [{ document: source, role: 'TEMPLATE' }, ...optional.filter((one) => one !== undefined)];
}
