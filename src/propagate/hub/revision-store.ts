import { createHash } from 'node:crypto';
import type { Fault } from '../../core/faults.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import { listSchema, printDocument, readDocument, structureSchema, translatedSchema } from '../../core/json/documents.ts';
import { anyObject, anyText, clusterText, flag } from '../../core/json/field-definitions.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { listAt, numberAt, objectAt, textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import type { OldValues } from '../model/inventory.ts';
import { objectKeyFields, withKey } from '../model/object-key-definition.ts';
import { marks, type Propagation, type PropagationRevision } from '../model/propagation.ts';
import type { SpecDocument } from '../model/spec.ts';
import { type Hub, hubKinds, listOnHub, requestOnHub } from './hub.ts';

/** So many revisions are kept (docs/internals/propagation.md 5.5). */
export const keptRevisions = 10;

/** What a generation was, for going back to it. */
interface NewRevision {
  /** Grows with each generation that was planned; equal for the same one. */
  readonly revision: number;
  readonly digest: string;
  readonly document: SpecDocument;
  readonly requester?: string;
  /** No inventory holds anything. Of one that was recorded before, what was said then holds. */
  readonly hadNoCopies?: boolean;
}

/** What came of recording something. What was recorded before counts as written. */
type RevisionWriteResult = { readonly result: 'written' } | { readonly result: 'failed'; readonly fault: Fault };

/** Revisions from one to another, both among them. */
export interface RevisionRange {
  readonly from: number;
  readonly to: number;
  readonly as: 'inEffect' | 'rolledBack';
}

/**
 * The ControllerRevisions of Propagations on the hub, owned by them. All is read from the hub itself, and written under names that follow from what is
 * written: recording the same twice is once.
 */
export interface RevisionStore {
  /** Keeps it, as one that stands, and drops what is older than the last ten; of those the newest that stands stays. */
  record(owner: Propagation, revision: NewRevision, signal: AbortSignal): Promise<RevisionWriteResult>;
  /** Keeps of these whether they were gone back from. */
  markRange(owner: Propagation, range: RevisionRange, signal: AbortSignal): Promise<RevisionWriteResult>;
  /** The newest first. */
  list(owner: Propagation, signal: AbortSignal): Promise<readonly PropagationRevision[] | { readonly fault: Fault }>;
  /** Keeps beside a revision what objects held that are about to be taken over; in several resources where it is much. */
  recordOldValues(
    owner: Propagation,
    kept: { readonly revision: number; readonly values: readonly OldValues[] },
    signal: AbortSignal,
  ): Promise<RevisionWriteResult>;
  /** What was kept beside that revision, each once. Of an object that changed while it was tried there are several: the inventory knows which holds. */
  oldValues(owner: Propagation, revision: number, signal: AbortSignal): Promise<readonly OldValues[] | { readonly fault: Fault }>;
}

/** Which of the two a ControllerRevision holds: its data are never changed once they are written, so old values stand in others. */
const contentLabel = 'muster.dev/content';
type Content = 'spec' | 'old-values';

/** Revisions on that hub. */
export function createRevisionStore(hub: Hub): RevisionStore {
  return {
    async record(owner, revision, signal) {
      const { digest, document, requester, hadNoCopies } = revision;
      const data = {
        ...{ digest, spec: document },
        ...(requester === undefined ? {} : { requester }),
        ...(hadNoCopies === true ? { fromNothing: true } : {}),
      };
      const recorded = await create(hub, manifestOf(owner, { content: 'spec', revision: revision.revision, data, key: '' }), signal);
      if (recorded.result === 'failed') return recorded;
      const { revision: number } = revision;
      const stands = recorded.isNew ? recorded : await mark(hub, owner, { from: number, to: number, as: 'inEffect' }, signal);
      return stands.result === 'failed' ? stands : deleteOldRevisions(hub, owner, { recorded: number }, signal);
    },
    markRange: (owner, range, signal) => mark(hub, owner, range, signal),
    async list(owner, signal) {
      const found = await listRevisions(hub, owner, { content: 'spec' }, signal);
      return 'fault' in found ? found : found.map(revisionOf).toSorted((a, b) => b.revision - a.revision);
    },
    async recordOldValues(owner, { revision, values }, signal) {
      if (values.length === 0) return { result: 'written' };
      for (const objects of inParts(values.map(printOldValues))) {
        const data = { objects };
        const kept = await create(hub, manifestOf(owner, { content: 'old-values', revision, data, key: canonicalJson(data) }), signal);
        if (kept.result === 'failed') return kept;
      }
      return { result: 'written' };
    },
    async oldValues(owner, revision, signal) {
      const found = await listRevisions(hub, owner, { content: 'old-values' }, signal);
      if ('fault' in found) return found;
      return eachOnce(found.filter((object) => numberAt(object, 'revision') === revision).flatMap(oldValuesIn));
    },
  };
}

interface RevisionContent {
  readonly content: Content;
  readonly revision: number;
  readonly data: JsonObject;
  /** What tells it from others of the same revision. */
  readonly key: string;
}

function manifestOf({ metadata: { namespace, name, uid } }: Propagation, { content, revision, data, key }: RevisionContent): Manifest {
  const { apiVersion, kind } = hubKinds.propagation;
  const hash = createHash('sha256')
    .update(JSON.stringify([uid, content, key]))
    .digest('hex')
    .slice(0, 16);
  return {
    apiVersion: hubKinds.revision.apiVersion,
    kind: hubKinds.revision.kind,
    metadata: {
      namespace,
      name: `${name.slice(0, 200).replace(/[^a-z0-9]+$/, '')}.${revision}.${hash}`,
      labels: { [marks.propagation]: uid, [contentLabel]: content },
      ownerReferences: [{ apiVersion, kind, name, uid }],
    },
    revision,
    data,
  };
}

/** What is there already is what would be written: its name says so. */
async function create(
  hub: Hub,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<{ readonly result: 'written'; readonly isNew: boolean } | Extract<RevisionWriteResult, { readonly result: 'failed' }>> {
  const { name, namespace = '' } = manifest.metadata;
  const answer = await requestOnHub(hub, { kind: hubKinds.revision, place: { namespace, name } }, (client, address) =>
    client.apply({ ...address, manifest, preconditions: { resourceVersion: '1' }, force: false, run: 'real' }, signal),
  );
  return answer.result === 'failed' ? answer : { result: 'written', isNew: answer.result === 'written' };
}

async function mark(hub: Hub, owner: Propagation, { from, to, as }: RevisionRange, signal: AbortSignal): Promise<RevisionWriteResult> {
  const found = await listRevisions(hub, owner, { content: 'spec' }, signal);
  if ('fault' in found) return { result: 'failed', fault: found.fault };
  const others = found.filter((object) => {
    const revision = revisionNumberOf(object);
    return revision >= from && revision <= to && isRolledBack(object) !== (as === 'rolledBack');
  });
  const annotations = { [marks.takenBack]: as === 'rolledBack' ? 'true' : null };
  const marked = await Promise.all(
    others.map(({ metadata: { namespace = '', name, uid = '' } }) =>
      requestOnHub(hub, { kind: hubKinds.revision, place: { namespace, name } }, (client, address) =>
        client.patch({ ...address, type: 'merge', patch: { metadata: { uid, annotations } }, run: 'real' }, signal),
      ),
    ),
  );
  return marked.find((answer) => answer.result === 'failed') ?? { result: 'written' };
}

function listRevisions(hub: Hub, { metadata }: Propagation, { content }: Pick<RevisionContent, 'content'>, signal: AbortSignal) {
  const labels = { [marks.propagation]: metadata.uid, [contentLabel]: content };
  return listOnHub(hub, { kind: hubKinds.revision, namespace: metadata.namespace, labels }, signal);
}

async function deleteOldRevisions(
  hub: Hub,
  owner: Propagation,
  { recorded }: { readonly recorded: number },
  signal: AbortSignal,
): Promise<RevisionWriteResult> {
  const { namespace, uid } = owner.metadata;
  const found = await listOnHub(hub, { kind: hubKinds.revision, namespace, labels: { [marks.propagation]: uid } }, signal);
  if ('fault' in found) return { result: 'failed', fault: found.fault };
  const revisions = [...new Set(found.map(revisionNumberOf))].toSorted((a, b) => b - a);
  const oldest = revisions[keptRevisions - 1];
  // However many were taken back since: what a breach goes back to is never dropped.
  const standing = revisions.find((revision) => revision < recorded && isInEffect(found, revision));
  const isOld = (revision: number) => oldest !== undefined && revision < oldest && revision !== standing;
  const old = found.filter((object) => isOld(revisionNumberOf(object)));
  const dropped = await Promise.all(old.map((object) => deleteRevision(hub, object, signal)));
  return dropped.find(({ result }) => result === 'failed') ?? { result: 'written' };
}

/** Only as it was read: who marked it as standing meanwhile keeps it. */
async function deleteRevision(hub: Hub, { metadata }: KubernetesObject, signal: AbortSignal): Promise<RevisionWriteResult> {
  const { namespace = '', name, uid, resourceVersion } = metadata;
  const answer = await requestOnHub(hub, { kind: hubKinds.revision, place: { namespace, name } }, (client, address) =>
    client.delete({ ...address, preconditions: { uid, resourceVersion }, cascade: 'Background', run: 'real' }, signal),
  );
  return answer.result === 'failed' ? answer : { result: 'written' };
}

function revisionNumberOf(object: KubernetesObject): number {
  return numberAt(object, 'revision') ?? 0;
}

function isInEffect(found: readonly KubernetesObject[], revision: number): boolean {
  return found.some((object) => revisionNumberOf(object) === revision && contentOf(object) === 'spec' && !isRolledBack(object));
}

function contentOf(object: KubernetesObject): string | undefined {
  return object.metadata.labels?.[contentLabel];
}

function isRolledBack({ metadata: { annotations } }: KubernetesObject): boolean {
  return annotations?.[marks.takenBack] !== undefined;
}

function revisionOf(object: KubernetesObject): PropagationRevision {
  const requester = textAt(object, 'data', 'requester');
  return {
    revision: revisionNumberOf(object),
    createdAt: textAt(object, 'metadata', 'creationTimestamp') ?? '',
    digest: textAt(object, 'data', 'digest') ?? '',
    document: objectAt(object, 'data', 'spec'),
    isRolledBack: isRolledBack(object),
    ...(objectAt(object, 'data').fromNothing === true ? { hadNoCopies: true } : {}),
    ...(requester === undefined ? {} : { requester }),
  };
}

function oldValuesIn(object: KubernetesObject): readonly OldValues[] {
  return listAt(object, 'data', 'objects')
    .map(parseOldValues)
    .filter((values) => values !== undefined);
}

function eachOnce(values: readonly OldValues[]): readonly OldValues[] {
  return [...new Map(values.map((one) => [canonicalJson(printOldValues(one)), one])).values()];
}

/** So many characters in one resource: etcd takes 1.5 MiB. */
const maxPartCharacters = 1024 * 1024;

function inParts(printed: readonly Json[]): readonly (readonly Json[])[] {
  const parts: Json[][] = [];
  let room = 0;
  for (const one of printed) {
    const { length } = JSON.stringify(one);
    room -= length;
    if (room >= 0) parts.at(-1)?.push(one);
    else {
      parts.push([one]);
      room = maxPartCharacters - length;
    }
  }
  return parts;
}

const oldValuesDefinition = translatedSchema(
  structureSchema({
    cluster: clusterText,
    ...objectKeyFields,
    uid: anyText,
    values: anyObject,
    owners: listSchema(anyObject, { max: 100 }).exactOptional(),
    whole: flag.exactOptional(),
  }),
  {
    decode(flat, tell): OldValues | undefined {
      const [key, { values, ...rest }] = withKey(flat);
      return isManifest(values) ? { key, values, ...rest } : tell('expected a manifest', 'values');
    },
    encode: ({ key, ...rest }) => ({ ...key, ...rest }),
  },
);

/** What an object held, as it is kept with a revision. */
function printOldValues(values: OldValues): Json {
  return printDocument(oldValuesDefinition, values);
}

/** Undefined for a value that `printOldValues` did not make. */
function parseOldValues(value: Json): OldValues | undefined {
  const read = readDocument(oldValuesDefinition, value);
  return 'problems' in read ? undefined : read.value;
}

function isManifest(values: JsonObject): values is Manifest {
  return [['apiVersion'], ['kind'], ['metadata', 'name']].every((path) => textAt(values, ...path) !== undefined);
}
