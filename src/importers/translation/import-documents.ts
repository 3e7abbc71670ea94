import { pathWithObject } from '../../core/indexed-path.ts';
import type { Json } from '../../core/json.ts';
import { groupOfApiVersion } from '../../core/kinds.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { isSubdomain } from '../../core/selectors.ts';
import { inputOf } from '../../propagate/model/input-spec.ts';
import type { PropagationName } from '../../propagate/model/propagations.ts';
import { parseSpec, type SourceSystem, type SpecDocument, type SpecProblem } from '../../propagate/model/spec.ts';
import { divideRepeatedObjects, type RepeatedObject } from '../documents/repeated-objects.ts';
import { isSourceObject, type ObjectDocument, type SourceDocument, sourceDocumentsOf } from '../documents/source-documents.ts';
import { errorNote, infoNote, warningNote } from '../model/import-notes.ts';
import type { DocumentRole, ImportedDocument, ImportedPropagation, ImportNote, ImportResult } from '../model/import-result.ts';
import type { ImportContext, Proposal, ProposedDocument, Translation } from '../model/importer.ts';
import { boundedNotes } from '../model/unique-notes.ts';
import { ImportSize } from './import-size.ts';
import { importers } from './importers.ts';
import { withKeptNamespace } from './kept-namespaces.ts';
import { notesOfSharedObjects, type ProposedIntent } from './shared-objects.ts';

/**
 * Translates a text of manifests of other systems to Propagations. Writes nothing.
 *
 * @throws {MusterError} `BAD_INPUT` with the line, if the text is no YAML or exceeds a limit of manifests. `TOO_COSTLY` if the Propagations
 * have more than 64 MiB together. Then nothing is imported.
 */
export function* importText(text: string, context: ImportContext): Steps<ImportResult> {
  return yield* importDocuments(yield* sourceDocumentsOf(text), context);
}

/**
 * Translates documents of other systems to Propagations. Writes nothing.
 *
 * The result lists as unread, each with a note: documents that no importer takes, objects that a later document repeats, and objects whose
 * Propagation would be invalid.
 *
 * @throws {MusterError} `TOO_COSTLY` as soon as the Propagations have more than 64 MiB together.
 */
export function* importDocuments(documents: readonly SourceDocument[], context: ImportContext): Steps<ImportResult> {
  const { latest, repeated } = divideRepeatedObjects(documents);
  const proposed: SystemProposal[] = [];
  const unread: ProposedDocument[] = [];
  const notes: ImportNote[] = [];
  const taken = new Set<SourceDocument>();
  const refusedPolicies = new Map<SourceDocument, ObjectDocument>();
  for (const { system, translate } of importers) {
    const translation = yield* translate(latest, context);
    for (const { document } of documentsIn(translation)) taken.add(document);
    for (const one of translation.unread) unread.push(one);
    for (const note of translation.notes) notes.push(note);
    for (const [document, policy] of translation.refusedPolicies ?? []) refusedPolicies.set(document, policy);
    for (const one of translation.proposals) {
      // If the leader keeps the Propagation in sync with a resource, it deletes a Namespace with the resource, as the source system does.
      const proposal = context.isKeptInSync === true ? one : withKeptNamespace(one, pathOf(one));
      proposed.push({ system, proposal: { ...proposal, notes: boundedNotes(proposal.notes) } });
    }
  }
  const others = latest.filter((document) => !taken.has(document));
  const positions = new Map(documents.map((document, at) => [document, at]));
  const names = new UniqueNames();
  const size = new ImportSize(context);
  const made = new Map<NamedProposal, ImportedPropagation>();
  const refused: ProposedDocument[] = [];
  for (const { system, proposal } of proposed.toSorted((a, b) => positionOf(a, positions) - positionOf(b, positions))) {
    size.add(proposal);
    const one = { system, proposal, ...nameOf(proposal, names), spec: proposal.spec, path: pathOf(proposal) };
    const result = propagationOf(one, { context, documents });
    if (result.result === 'valid') made.set(one, result.propagation);
    else {
      for (const document of proposal.documents) refused.push(document);
      notes.push(...result.notes);
    }
    yield;
  }
  for (const [one, note] of notesOfSharedObjects([...made.keys()])) {
    const proposal = { ...one.proposal, notes: boundedNotes([note, ...one.proposal.notes]) };
    const result = propagationOf({ ...one, proposal }, { context, documents });
    if (result.result === 'valid') made.set(one, result.propagation);
    yield;
  }
  const propagations = [...made.values()];
  const used = new Set(propagations.flatMap((propagation) => propagation.documents.map(({ index }) => index)));
  // A policy of a refused resource is unread only if no other Propagation uses it.
  const leftOut = eachOnce(refused.filter(({ document, role }) => role === 'TEMPLATE' || !used.has(document.index)));
  const explained = new Set(notes.map(({ path }) => path));
  const silent = leftOut.filter(({ document }) => !explained.has(document.path));
  return {
    propagations,
    unread: inOrder(eachOnce([...unread, ...leftOut, ...[...others, ...repeated.map(({ document }) => document)].map(asOther)])),
    notes: [
      ...notes,
      ...silent.map(noteOfLeftOut),
      ...repeated.map(noteOfRepeated),
      ...others.map((document) => noteOfUnclaimed(document, { propagations, refusedPolicies })),
    ],
    faults: [],
  };
}

interface SystemProposal {
  readonly system: SourceSystem;
  readonly proposal: Proposal;
}

/** A proposal with the unique name of its Propagation. */
interface NamedProposal extends SystemProposal, ProposedIntent {}

function nameOf({ namespace = 'default', name }: Proposal, names: UniqueNames): PropagationName {
  return { namespace, name: names.take(namespace, name) };
}

/** Returns the path of the resource of a proposal. */
function pathOf({ documents }: Proposal): string {
  const resource = documents.find(({ role }) => role === 'TEMPLATE')?.document ?? documents[0]?.document;
  return resource?.path ?? '';
}

function documentsIn({ proposals, unread }: Translation): readonly ProposedDocument[] {
  return [...proposals.flatMap(({ documents }) => documents), ...unread];
}

/** Returns the position of the resource in the input, which decides the order of the Propagations. */
function positionOf({ proposal: { documents } }: SystemProposal, positions: ReadonlyMap<SourceDocument, number>): number {
  const resource = documents.find(({ role }) => role === 'TEMPLATE') ?? documents[0];
  return (resource === undefined ? undefined : positions.get(resource.document)) ?? positions.size;
}

interface ImportFacts {
  readonly context: ImportContext;
  /** All documents of the import. */
  readonly documents: readonly SourceDocument[];
}

/** The Propagation of a proposal, or the error notes that say why its name or its spec is invalid. */
type ProposalResult =
  | { readonly result: 'valid'; readonly propagation: ImportedPropagation }
  | { readonly result: 'invalid'; readonly notes: readonly ImportNote[] };

function propagationOf({ system, proposal, namespace, name }: NamedProposal, facts: ImportFacts): ProposalResult {
  const { context } = facts;
  const documents = inOrder(proposal.documents);
  // The copies of a living system exist already, so they are adopted.
  const adoption = context.living === undefined ? {} : { conflict: 'Adopt' };
  const document = { ...proposal.spec, ...adoption, source: sourceOf(system, proposal, facts) } as SpecDocument;
  const { problems: known = [] } = proposal;
  const spec = known.length > 0 ? { problems: known } : parseSpec(document);
  const problems = [...problemsOfName({ namespace, name }), ...('problems' in spec ? spec.problems : [])];
  if ('problems' in spec || problems.length > 0)
    return { result: 'invalid', notes: problems.map((problem) => noteOfProblem(proposal, problem)) };
  const input = inputOf({ metadata: { namespace, name, labels: {} }, spec, document });
  return { result: 'valid', propagation: { system, input, documents, notes: proposal.notes } };
}

/** Returns the problems of a Propagation's name, with the same messages as `readPropagationInput`. */
function problemsOfName({ namespace, name }: PropagationName): readonly SpecProblem[] {
  return [
    ...(isSubdomain(name)
      ? []
      : [{ path: 'name', message: `expected lower-case letters, digits, - and ., at most 253, got ${name.slice(0, 80)}` }]),
    ...(isSubdomain(namespace) && namespace.length <= 63 ? [] : [{ path: 'namespace', message: 'expected the name of a namespace' }]),
  ];
}

function noteOfProblem(proposal: Proposal, { path, message }: SpecProblem): ImportNote {
  return errorNote('INVALID', pathOf(proposal), `no valid Propagation: ${path}: ${message}`);
}

/**
 * Returns `source` of the spec: the documents from which the Propagation was made. The notes are kept with it, because a reader of the Git file needs them.
 * Paths in a living system name the object, because its index is gone after the import.
 */
function sourceOf(system: SourceSystem, { documents, notes }: Proposal, { context: { living }, documents: all }: ImportFacts): Json {
  const objects = documents.flatMap(({ document: { key }, role }) => (key === undefined ? [] : [{ ...key, role: roles[role] }]));
  if (living === undefined) return { system, objects, notes: notes.map((note) => ({ ...note })) };
  const recorded = notes.map(({ path, ...note }) =>
    // Each object of a living system is one document, so the index in the path is its position in `all`.
    path === undefined ? note : { ...note, path: pathWithObject(path, (index) => all[index]?.key) },
  );
  return { system, cluster: living.cluster, objects, notes: recorded };
}

const roles: Readonly<Record<DocumentRole, string>> = {
  TEMPLATE: 'Template',
  PLACEMENT: 'Placement',
  OVERRIDE: 'Override',
  SCHEDULING: 'Scheduling',
  OTHER: 'Other',
};

/** Sorts documents by their index, and leaves out the path and the object. */
function inOrder(documents: readonly ProposedDocument[]): readonly ImportedDocument[] {
  return documents
    .map(({ document: { index, key }, role }) => ({ index, ...(key === undefined ? {} : { key }), role }))
    .toSorted((a, b) => a.index - b.index);
}

/** Keeps the first entry of each document, so that a policy of many refused resources is unread once. */
function eachOnce(documents: readonly ProposedDocument[]): readonly ProposedDocument[] {
  const first = new Map<SourceDocument, ProposedDocument>();
  for (const one of documents) if (!first.has(one.document)) first.set(one.document, one);
  return [...first.values()];
}

function asOther(document: SourceDocument): ProposedDocument {
  return { document, role: 'OTHER' };
}

/** Returns the note about a document that only refused resources use, such as their policy. */
function noteOfLeftOut({ document: { key, path }, role }: ProposedDocument): ImportNote {
  const name = key === undefined ? path : `${key.kind} ${key.name}`;
  return warningNote(role === 'TEMPLATE' ? 'UNCLAIMED' : 'NO_TEMPLATE', path, `${name} is only for resources that are not imported`);
}

function noteOfRepeated({ document: { key, path }, last }: RepeatedObject): ImportNote {
  const message = `${key.kind} ${key.name} is also the document ${last.path}, which replaces this one, as after kubectl apply of both`;
  return warningNote('REPEATED', path, message);
}

interface UnclaimedFacts {
  readonly propagations: readonly ImportedPropagation[];
  readonly refusedPolicies: ReadonlyMap<SourceDocument, ObjectDocument>;
}

function noteOfUnclaimed(document: SourceDocument, { propagations, refusedPolicies }: UnclaimedFacts): ImportNote {
  if (document.problem !== undefined) return errorNote('INVALID', document.problem.path, document.problem.message);
  if (!isSourceObject(document)) {
    const message = `${document.path} is no Kubernetes object: expected apiVersion, kind and metadata.name`;
    return { severity: 'WARNING', code: 'NOT_AN_OBJECT', message, path: document.path };
  }
  const { apiVersion, kind, name } = document.key;
  if (groupOfApiVersion(apiVersion).endsWith('.karmada.io')) {
    const own = `${kind} ${name} belongs to Karmada itself, and a Propagation has no counterpart. The guide names alternatives`;
    return warningNote('UNCLAIMED', document.path, own);
  }
  if (kind === 'Namespace' && apiVersion === 'v1' && isFederated(name, propagations)) {
    return infoNote('UNCLAIMED', document.path, `Namespace ${name} needs no Propagation: that of FederatedNamespace ${name} makes it`);
  }
  const policy = refusedPolicies.get(document)?.key;
  if (policy !== undefined) {
    const refused = `the policy that selects ${kind} ${name} was refused: ${policy.kind} ${policy.name}`;
    return warningNote('UNCLAIMED', document.path, refused);
  }
  const message =
    `no policy selects ${kind} ${name}, and it has none of the other forms that are imported: a federated kind, a MultiClusterResource of ` +
    'mulitcluster.practice.com, or annotations of Federation v1 in its own metadata';
  return warningNote('UNCLAIMED', document.path, message);
}

/** True if one of these Propagations is made from the FederatedNamespace of this namespace. */
function isFederated(namespace: string, propagations: readonly ImportedPropagation[]): boolean {
  return propagations.some(({ documents }) => documents.some(({ key }) => key?.kind === 'FederatedNamespace' && key.name === namespace));
}

/** Gives each Propagation its own name: the second one of a name gets `-2`, the third one `-3`. */
class UniqueNames {
  readonly #taken = new Set<string>();

  take(namespace: string, name: string): string {
    let unique = name;
    for (let count = 2; this.#taken.has(`${namespace}/${unique}`); count += 1) unique = `${name}-${count}`;
    this.#taken.add(`${namespace}/${unique}`);
    return unique;
  }
}
