import type { JsonObject } from '../../core/json.ts';
import { labelsAt } from '../../core/json-at.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { kindTextOf } from '../../manifests/pod-specs.ts';
import { currentObjectOf } from '../api-versions/current-api.ts';
import { type ImportClusters, importClustersOf } from '../clusters/import-clusters.ts';
import { holdsSecret } from '../documents/holds-secret.ts';
import { isSourceObject, type ObjectDocument, propagationNameOf, type SourceDocument } from '../documents/source-documents.ts';
import { type ImportedRules, importedRules } from '../kubefed/replica-rules.ts';
import { errorNote, secretNote, warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import type { ImportContext, Importer, Proposal, Translation } from '../model/importer.ts';
import { type ProposalOutcome, translateEach } from '../model/translate-each.ts';
import { fieldPath } from '../model/unknown-fields.ts';
import { readClusterSelector } from './cluster-selector.ts';
import { type PreferencesRead, readPreferences } from './read-preferences.ts';

/**
 * Translates Federation v1: resources with an annotation of preferences or with a cluster selector. Each becomes a Propagation. A resource
 * without such an annotation is no document of Federation v1. From a living cluster, no resource is translated: the API server of Federation
 * v1 is gone, and other systems leave its old annotations in place.
 */
export const federationV1Importer: Importer = { system: 'FederationV1', translate };

const selectorAnnotation = 'federation.alpha.kubernetes.io/cluster-selector';
const preferenceAnnotations: Readonly<Record<string, string>> = {
  Deployment: 'federation.kubernetes.io/deployment-preferences',
  ReplicaSet: 'federation.kubernetes.io/replica-set-preferences',
  Job: 'federation.kubernetes.io/job-preferences',
};
/** The annotation that the autoscaler of Federation v1 writes on the workloads that it scales. */
const autoscaledAnnotation = 'federation.kubernetes.io/hpa-target-cluster-list';
const knownAnnotations = [selectorAnnotation, ...Object.values(preferenceAnnotations)];

function translate(documents: readonly SourceDocument[], context: ImportContext): Steps<Translation> {
  const fleet = importClustersOf(context, 'FederationV1');
  const objects = context.living === undefined ? documents.filter(isSourceObject).filter(isOfFederation) : [];
  return translateEach(objects.map((document) => ({ document, propose: () => stepsOf(document, fleet) })));
}

function* stepsOf(document: ObjectDocument, fleet: ImportClusters): Steps<ProposalOutcome> {
  yield;
  return proposalOf(document, fleet);
}

function isOfFederation({ object }: ObjectDocument): boolean {
  const annotations = labelsAt(object, 'metadata', 'annotations');
  return knownAnnotations.some((annotation) => annotations[annotation] !== undefined);
}

/** Members of a spec, and the notes about them. */
interface SpecPart {
  readonly fields: JsonObject;
  readonly notes: readonly ImportNote[];
}

function proposalOf(document: ObjectDocument, fleet: ImportClusters): ProposalOutcome {
  const { key, path } = document;
  if (holdsSecret(document.object)) return { result: 'refused', note: secretNote(path) };
  const { object, notes } = currentObjectOf(document.object, path);
  const placement = placementPart(document, fleet);
  if (placement.result === 'refused') return placement;
  const replicas = replicasPart(document, fleet);
  const { namespace = 'default', name } = key;
  const { policies } = replicas;
  const rules = Object.keys(policies).length === 0 ? {} : { policies };
  const exact = { exact: { system: 'FederationV1', key: `${namespace}/${name}`, ...rules }, write: 'Replace' };
  const proposal: Proposal = {
    namespace: key.namespace,
    name: propagationNameOf(key),
    spec: {
      template: [{ json: object }],
      ...placement.fields,
      ...replicas.fields,
      // If a cluster has an object with the name of a copy, Federation v1 updates the object.
      conflict: 'Adopt',
      ...(fleet.isExact ? exact : {}),
    },
    documents: [{ document, role: 'TEMPLATE' }],
    notes: [...notes, ...placement.notes, ...replicas.notes, ...autoscalerNotes(document), ...otherAnnotationNotes(document)],
  };
  return { result: 'proposed', proposal };
}

type PlacementPart = ({ readonly result: 'read' } & SpecPart) | { readonly result: 'refused'; readonly note: ImportNote };

/**
 * Returns `placement` from the annotation with the cluster selector. Without the annotation, it is empty, which means every cluster, as in
 * Federation v1.
 */
function placementPart({ object, path }: ObjectDocument, { visible }: ImportClusters): PlacementPart {
  const annotation = labelsAt(object, 'metadata', 'annotations')[selectorAnnotation];
  if (annotation === undefined) return { result: 'read', fields: { placement: {} }, notes: [] };
  const at = annotationPath(path, selectorAnnotation);
  const read = readClusterSelector(annotation, { path: at, labels: [...visible.values()] });
  if (read.result === 'refused') return { result: 'refused', note: errorNote('INVALID', `${at}${read.path}`, read.message) };
  const { selector, notes } = read;
  return { result: 'read', fields: { placement: selector === undefined ? { clusters: [] } : { selector } }, notes };
}

/**
 * Returns `replicas` from the annotation with the preferences. If the annotation is missing or unreadable, each cluster gets the weight 1,
 * as in Federation v1. No fields for a kind whose replicas Federation v1 does not divide.
 */
function replicasPart({ object, key, path }: ObjectDocument, fleet: ImportClusters): SpecPart & Pick<ImportedRules, 'policies'> {
  const name = Object.hasOwn(preferenceAnnotations, key.kind) ? preferenceAnnotations[key.kind] : undefined;
  if (name === undefined) return { fields: {}, policies: {}, notes: [] };
  const at = annotationPath(path, name);
  const annotation = labelsAt(object, 'metadata', 'annotations')[name];
  const read = annotation === undefined ? undefined : readPreferences(annotation);
  const preferences = read?.result === 'read' ? read.preferences : { rebalance: false, clusters: { '*': { weight: 1 } } };
  const { rules, policies, notes } = importedRules({ clusters: preferences.clusters, path: `${at}.clusters` }, fleet);
  return {
    fields: { replicas: { mode: 'Divided', rules, rebalance: preferences.rebalance } },
    policies,
    notes: [...readingNotes(read, at), ...notes],
  };
}

function readingNotes(read: PreferencesRead | undefined, at: string): readonly ImportNote[] {
  if (read?.result === 'read') {
    return read.unknownFields.map((field) =>
      warningNote('UNKNOWN_FIELD', `${at}.${field}`, `${field} is no known field here, and has no effect`),
    );
  }
  if (read === undefined) return [warningNote('UNPARSABLE', at, 'without preferences, each cluster has the weight 1')];
  const reason = `${read.path}${read.path === '' ? '' : ': '}${read.message}`;
  return [warningNote('UNPARSABLE', at, `${reason}: each cluster has the weight 1`)];
}

/**
 * Returns a warning for a HorizontalPodAutoscaler: Federation v1 divides its bounds between the clusters (hpa.go), and a Propagation does
 * not.
 */
function autoscalerNotes({ object, path }: ObjectDocument): readonly ImportNote[] {
  if (kindTextOf(object) !== 'HorizontalPodAutoscaler.autoscaling') return [];
  const message =
    'Federation v1 divides minReplicas and maxReplicas between the clusters; each copy of the Propagation has them in full, so set them ' +
    'for each cluster with overrides';
  return [warningNote('UNSUPPORTED', `${path}.spec`, message)];
}

function otherAnnotationNotes({ object, key, path }: ObjectDocument): readonly ImportNote[] {
  const used = [selectorAnnotation, preferenceAnnotations[key.kind]];
  return Object.keys(labelsAt(object, 'metadata', 'annotations'))
    .filter((annotation) => /^(ingress\.)?federation(\.alpha)?\.kubernetes\.io\//.test(annotation) && !used.includes(annotation))
    .map((annotation) => {
      const message =
        annotation === autoscaledAnnotation
          ? `an autoscaler of Federation v1 decides the replicas of the ${key.kind} in each cluster, and the Propagation divides them. To leave ` +
            'them to autoscalers in the clusters, set replicas.mode to External'
          : `the annotation ${annotation} has no effect on the ${key.kind}`;
      return warningNote('UNSUPPORTED', annotationPath(path, annotation), message);
    });
}

function annotationPath(path: string, annotation: string): string {
  return fieldPath(`${path}.metadata.annotations`, annotation);
}
