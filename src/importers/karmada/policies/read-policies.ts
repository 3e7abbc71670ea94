import type { z } from 'zod';
import { type DocumentProblem, readDocument } from '../../../core/json/documents.ts';
import { isJsonObject } from '../../../core/json.ts';
import { listAt, textAt, valueAt } from '../../../core/json-at.ts';
import { groupOfApiVersion } from '../../../core/kinds.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import type { OverridePolicySpec } from '../../../propagate/karmada/override-policies.ts';
import { type ImplicitPriority, preparedSelectors, type ResourceSelector } from '../../../propagate/karmada/resource-selector.ts';
import { isSourceObject, type ObjectDocument, type SourceDocument } from '../../documents/source-documents.ts';
import type { DocumentRole, ImportNote } from '../../model/import-result.ts';
import { type AdmissionProblem, isPresent } from '../admission/problems.ts';
import { validateOverrideSpec } from '../admission/validate-overrides.ts';
import { validatePropagationSpec } from '../admission/validate-propagation.ts';
import { overridePolicy } from './override-policy-definition.ts';
import { withPolicyDefaults } from './policy-defaults.ts';
import { type PropagationPolicySpec, propagationPolicy } from './propagation-definition.ts';

const policyGroup = 'policy.karmada.io';

/** The version of all policies. */
const policyVersion = 'v1alpha1';

const policyKinds: ReadonlySet<string> = new Set([
  'PropagationPolicy',
  'ClusterPropagationPolicy',
  'OverridePolicy',
  'ClusterOverridePolicy',
]);

/** The namespace of a namespaced object without one, as for `kubectl apply`. */
export const defaultNamespace = 'default';

/** A policy that Karmada accepts, with its defaults. */
interface AcceptedPolicy<Spec> {
  readonly document: ObjectDocument;
  readonly name: string;
  /** Absent for the cluster-scoped kinds of policies. */
  readonly namespace?: string;
  readonly spec: Spec;
  /** Returns how specifically the policy selects a resource. The namespace of the policy itself is not compared. */
  readonly priorityOf: (resource: Manifest) => ImplicitPriority;
  /** The notes about fields of the document that Karmada's definition does not have. */
  readonly notes: readonly ImportNote[];
}

/** A PropagationPolicy or ClusterPropagationPolicy. */
export type PropagationPolicy = AcceptedPolicy<PropagationPolicySpec>;

/** An OverridePolicy or ClusterOverridePolicy. */
export type ImportedOverridePolicy = AcceptedPolicy<OverridePolicySpec>;

/** The policies in the documents of an import. */
export interface PoliciesRead {
  readonly propagation: readonly PropagationPolicy[];
  readonly overrides: readonly ImportedOverridePolicy[];
  /** The policies that Karmada would refuse, with the reasons. */
  readonly refused: readonly RefusedPolicy[];
}

/** A policy that Karmada would refuse. */
interface RefusedPolicy {
  readonly document: ObjectDocument;
  readonly role: DocumentRole;
  /** Returns how specifically the policy would select a resource. */
  readonly priorityOf: (resource: Manifest) => ImplicitPriority;
  readonly notes: readonly ImportNote[];
}

/** Names a document for a message: `PropagationPolicy web`. */
export function describeDocument({ key: { kind, name } }: ObjectDocument): string {
  return `${kind} ${name}`;
}

/** True for a document that is one of Karmada's four kinds of policies, in any version. */
export function isPolicy({ key }: SourceDocument): boolean {
  return key !== undefined && groupOfApiVersion(key.apiVersion) === policyGroup && policyKinds.has(key.kind);
}

/** Reads the policies among the documents, in their order. Other documents are ignored. */
export function readPolicies(documents: readonly SourceDocument[]): PoliciesRead {
  const propagation: PropagationPolicy[] = [];
  const overrides: ImportedOverridePolicy[] = [];
  const refused: RefusedPolicy[] = [];
  const refuse = (document: ObjectDocument, role: DocumentRole, problems: readonly AdmissionProblem[]) =>
    refused.push({
      document,
      role,
      priorityOf: preparedSelectors(inNamespace({ resourceSelectors: writtenSelectorsOf(document) }, document).resourceSelectors),
      notes: problems.map((problem) => noteOfProblem(document, problem)),
    });
  for (const document of documents.filter(isSourceObject).filter(isPolicy)) {
    const version = document.key.apiVersion.slice(policyGroup.length + 1);
    if (version !== policyVersion) {
      const message = `unknown version ${version}, expected ${policyVersion}`;
      refuse(document, isOverridePolicy(document) ? 'OVERRIDE' : 'PLACEMENT', [{ path: 'apiVersion', message }]);
    } else if (isOverridePolicy(document)) {
      const read = readOverridePolicy(document);
      if (read.result === 'accepted') overrides.push(read.policy);
      else refuse(document, 'OVERRIDE', read.problems);
    } else {
      const read = readPropagationPolicy(document);
      if (read.result === 'accepted') propagation.push(read.policy);
      else refuse(document, 'PLACEMENT', read.problems);
    }
  }
  return { propagation, overrides, refused };
}

function isOverridePolicy({ key: { kind } }: ObjectDocument): boolean {
  return kind.endsWith('OverridePolicy');
}

type PolicyRead<Spec> =
  | { readonly result: 'accepted'; readonly policy: AcceptedPolicy<Spec> }
  | { readonly result: 'refused'; readonly problems: readonly AdmissionProblem[] };

function readPropagationPolicy(document: ObjectDocument): PolicyRead<PropagationPolicySpec> {
  const { read, notes } = readFields(propagationPolicy, document);
  if ('problems' in read) return { result: 'refused', problems: read.problems };
  const spec = inNamespace(withPolicyDefaults(read.value.spec), document);
  return acceptedUnless(validatePropagationSpec(spec, namespaceOf(document)), { document, spec, notes });
}

function readOverridePolicy(document: ObjectDocument): PolicyRead<OverridePolicySpec> {
  const { read, notes } = readFields(overridePolicy, document);
  if ('problems' in read) return { result: 'refused', problems: read.problems };
  const spec = inNamespace(read.value.spec, document);
  return acceptedUnless(validateOverrideSpec(spec, namespaceOf(document)), { document, spec, notes });
}

/** Reads a policy by the definition of its kind. Fields that the definition does not have are ignored, with a note. */
function readFields<S extends z.ZodType>(definition: S, document: ObjectDocument) {
  const notes: ImportNote[] = [];
  const ignoreUnknown = (problem: DocumentProblem) => {
    const message = `${describeDocument(document)}: ${problem.path} ${problem.message}`;
    notes.push({ severity: 'WARNING', code: 'UNKNOWN_FIELD', message, path: pathBelow(document.path, problem.path) });
  };
  return { read: readDocument(definition, document.object, { ignoreUnknown }), notes };
}

/** Returns the namespace of a policy. Undefined for cluster-scoped kinds of policies. */
function namespaceOf({ key: { kind, namespace = defaultNamespace } }: ObjectDocument): string | undefined {
  return kind.startsWith('Cluster') ? undefined : namespace;
}

interface SelectingSpec {
  readonly resourceSelectors?: readonly ResourceSelector[] | null;
}

/** Adds the namespace of the policy to each selector without a namespace. A cluster-scoped policy stays as it is. */
function inNamespace<Spec extends SelectingSpec>(spec: Spec, document: ObjectDocument): Spec {
  const namespace = namespaceOf(document);
  if (namespace === undefined || !isPresent(spec.resourceSelectors)) return spec;
  const selectors = spec.resourceSelectors.map((selector) => ((selector.namespace ?? '') === '' ? { ...selector, namespace } : selector));
  return { ...spec, resourceSelectors: selectors };
}

/** Returns the resource selectors of a policy that may be invalid, as far as they can be read. */
function writtenSelectorsOf({ object }: ObjectDocument): readonly ResourceSelector[] {
  return listAt(object, 'spec', 'resourceSelectors').map((selector) => {
    const labels = valueAt(selector, 'labelSelector');
    return {
      apiVersion: textAt(selector, 'apiVersion') ?? '',
      kind: textAt(selector, 'kind') ?? '',
      namespace: textAt(selector, 'namespace') ?? '',
      name: textAt(selector, 'name') ?? '',
      ...(isJsonObject(labels) ? { labelSelector: labels } : {}),
    };
  });
}

function acceptedUnless<Spec extends SelectingSpec>(
  problems: readonly AdmissionProblem[],
  { document, spec, notes }: Pick<AcceptedPolicy<Spec>, 'document' | 'spec' | 'notes'>,
): PolicyRead<Spec> {
  if (problems.length > 0) return { result: 'refused', problems };
  const namespace = namespaceOf(document);
  const priorityOf = preparedSelectors(spec.resourceSelectors);
  const policy = { document, name: document.key.name, ...(namespace === undefined ? {} : { namespace }), spec, priorityOf, notes };
  return { result: 'accepted', policy };
}

function noteOfProblem(document: ObjectDocument, problem: AdmissionProblem): ImportNote {
  const message = `${describeDocument(document)}: ${problem.path}: ${problem.message}. Karmada refuses the policy, so it is not imported`;
  return { severity: 'ERROR', code: 'INVALID', message, path: pathBelow(document.path, problem.path) };
}

function pathBelow(path: string, field: string): string {
  return field === '' || field.startsWith('[') ? `${path}${field}` : `${path}.${field}`;
}
