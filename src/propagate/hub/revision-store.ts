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

/** The number of revisions that are kept (docs/internals/propagation.md 5.5). */
export const keptRevisions = 10;

/** A revision to record: the spec of one generation, so that a rollback can use it. */
interface NewRevision {
  /** The revision number. It grows with each planned generation. */
  readonly revision: number;
  readonly digest: string;
  readonly document: SpecDocument;
  readonly requester?: string;
  /**
   * True if no inventory of the Propagation has an entry, so no copy is older than this revision. Ignored if the revision was recorded
   * before.
   */
  readonly hadNoCopies?: boolean;
  /**
   * The hash of the accepted sources (`hashOfSources`). It replaces the hash of an earlier record, because a later generation with the same
   * spec may accept other content. Default: changes of the sources are followed.
   */
  readonly sources?: string;
}

/** The result of a write. A revision that was recorded before counts as written. */
type RevisionWriteResult = { readonly result: 'written' } | { readonly result: 'failed'; readonly fault: Fault };

/** A range of revisions, both ends included. `as`: whether they become marked as rolled back, or as in effect again. */
export interface RevisionRange {
  readonly from: number;
  readonly to: number;
  readonly as: 'inEffect' | 'rolledBack';
}

/**
 * The ControllerRevisions of Propagations on the hub. Their Propagation owns them. Reads go to the hub itself. The name of a resource is
 * derived from the number of the revision, and for old values also from their content. So recording the same content twice has no further
 * effect.
 */
export interface RevisionStore {
  /**
   * Records a revision as in effect, and deletes all but the last ten revisions. The newest earlier revision that was not rolled back stays
   * too, because a breach would roll back to it.
   */
  record(owner: Propagation, revision: NewRevision, signal: AbortSignal): Promise<RevisionWriteResult>;
  /** Marks revisions as in effect, or as rolled back. */
  markRange(owner: Propagation, range: RevisionRange, signal: AbortSignal): Promise<RevisionWriteResult>;
  /** Lists the revisions, newest first. */
  list(owner: Propagation, signal: AbortSignal): Promise<readonly PropagationRevision[] | { readonly fault: Fault }>;
  /** Records the values of objects that are about to be taken over, with a revision. Uses several resources if one would be too large. */
  recordOldValues(
    owner: Propagation,
    kept: { readonly revision: number; readonly values: readonly OldValues[] },
    signal: AbortSignal,
  ): Promise<RevisionWriteResult>;
  /**
   * Returns the recorded values of a revision, each once. There are several for an object that changed between attempts to take it over.
   * The inventory has the hash of the valid one.
   */
  oldValues(owner: Propagation, revision: number, signal: AbortSignal): Promise<readonly OldValues[] | { readonly fault: Fault }>;
}

/**
 * The label that shows what a ControllerRevision contains: a spec or old values. The data of a ControllerRevision are immutable, so the two
 * are in different objects.
 */
const contentLabel = 'muster.dev/content';
type Content = 'spec' | 'old-values';

/** Creates the store of revisions on the hub. */
export function createRevisionStore(hub: Hub): RevisionStore {
  return {
    async record(owner, revision, signal) {
      const { digest, document, requester, hadNoCopies, sources } = revision;
      const annotations = sources === undefined ? {} : { [marks.sources]: sources };
      const data = {
        ...{ digest, spec: document },
        ...(requester === undefined ? {} : { requester }),
        ...(hadNoCopies === true ? { fromNothing: true } : {}),
      };
      const recorded = await createRevision(
        hub,
        manifestOf(owner, { content: 'spec', revision: revision.revision, data, key: '', annotations }),
        signal,
      );
      if (recorded.result === 'failed') return recorded;
      const { revision: number } = revision;
      const marked = recorded.isNew
        ? recorded
        : await markRevisions(hub, owner, { from: number, to: number, as: 'inEffect', annotations }, signal);
      return marked.result === 'failed' ? marked : deleteOldRevisions(hub, owner, { recorded: number }, signal);
    },
    markRange: (owner, range, signal) => markRevisions(hub, owner, range, signal),
    async list(owner, signal) {
      const found = await listRevisions(hub, owner, { content: 'spec' }, signal);
      return 'fault' in found ? found : found.map(revisionOf).toSorted((a, b) => b.revision - a.revision);
    },
    async recordOldValues(owner, { revision, values }, signal) {
      if (values.length === 0) return { result: 'written' };
      for (const objects of inParts(values.map(printOldValues))) {
        const data = { objects };
        const kept = await createRevision(
          hub,
          manifestOf(owner, { content: 'old-values', revision, data, key: canonicalJson(data) }),
          signal,
        );
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
  /**
   * Part of the name. It distinguishes this content from other content of the same revision. Empty for a spec, because a revision has only
   * one.
   */
  readonly key: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

function manifestOf(
  { metadata: { namespace, name, uid } }: Propagation,
  { content, revision, data, key, annotations }: RevisionContent,
): Manifest {
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
      annotations: { ...annotations },
      ownerReferences: [{ apiVersion, kind, name, uid }],
    },
    revision,
    data,
  };
}

/** Creates a ControllerRevision. `isNew` is false if one of this name exists. That one stays as it is, and counts as written. */
async function createRevision(
  hub: Hub,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<{ readonly result: 'written'; readonly isNew: boolean } | Extract<RevisionWriteResult, { readonly result: 'failed' }>> {
  const { name, namespace = '' } = manifest.metadata;
  const answer = await requestOnHub(hub, { kind: hubKinds.revision, objectName: { namespace, name } }, (client, address) =>
    client.apply({ ...address, manifest, preconditions: { resourceVersion: '1' }, force: false, run: 'real' }, signal),
  );
  return answer.result === 'failed' ? answer : { result: 'written', isNew: answer.result === 'written' };
}

/** Marks a range of revisions, and sets further annotations. Revisions that have all of them already are not written. */
async function markRevisions(
  hub: Hub,
  owner: Propagation,
  { from, to, as, annotations: more = {} }: RevisionRange & { readonly annotations?: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<RevisionWriteResult> {
  const found = await listRevisions(hub, owner, { content: 'spec' }, signal);
  if ('fault' in found) return { result: 'failed', fault: found.fault };
  const others = found.filter((object) => {
    const revision = revisionNumberOf(object);
    const { annotations: known } = object.metadata;
    const isMarked = isRolledBack(object) === (as === 'rolledBack') && Object.entries(more).every(([key, value]) => known?.[key] === value);
    return revision >= from && revision <= to && !isMarked;
  });
  const annotations = { ...more, [marks.takenBack]: as === 'rolledBack' ? 'true' : null };
  const marked = await Promise.all(
    others.map(({ metadata: { namespace = '', name, uid = '' } }) =>
      requestOnHub(hub, { kind: hubKinds.revision, objectName: { namespace, name } }, (client, address) =>
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
  // The revision to which a breach would roll back is never deleted, however many newer ones were rolled back.
  const rollbackTarget = revisions.find((revision) => revision < recorded && isInEffect(found, revision));
  const isOld = (revision: number) => oldest !== undefined && revision < oldest && revision !== rollbackTarget;
  const old = found.filter((object) => isOld(revisionNumberOf(object)));
  const dropped = await Promise.all(old.map((object) => deleteRevision(hub, object, signal)));
  return dropped.find(({ result }) => result === 'failed') ?? { result: 'written' };
}

/** Deletes a revision, guarded by its version. If another process has marked it as in effect meanwhile, it stays. */
async function deleteRevision(hub: Hub, { metadata }: KubernetesObject, signal: AbortSignal): Promise<RevisionWriteResult> {
  const { namespace = '', name, uid, resourceVersion } = metadata;
  const answer = await requestOnHub(hub, { kind: hubKinds.revision, objectName: { namespace, name } }, (client, address) =>
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
  const sources = object.metadata.annotations?.[marks.sources];
  return {
    revision: revisionNumberOf(object),
    createdAt: textAt(object, 'metadata', 'creationTimestamp') ?? '',
    digest: textAt(object, 'data', 'digest') ?? '',
    document: objectAt(object, 'data', 'spec'),
    isRolledBack: isRolledBack(object),
    ...(objectAt(object, 'data').fromNothing === true ? { hadNoCopies: true } : {}),
    ...(requester === undefined ? {} : { requester }),
    ...(sources === undefined ? {} : { sources }),
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

/** The maximum number of characters in one resource. The limit of etcd is 1.5 MiB. */
const maxPartCharacters = 1024 * 1024;

/** Divides values into lists, each of which fits into one resource on the hub. The order stays. A larger value is in a list of its own. */
export function inParts(printed: readonly Json[]): readonly (readonly Json[])[] {
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
    decode(flat, report): OldValues | undefined {
      const [key, { values, ...rest }] = withKey(flat);
      return isManifest(values) ? { key, values, ...rest } : report('expected a manifest', 'values');
    },
    encode: ({ key, ...rest }) => ({ ...key, ...rest }),
  },
);

/** Prints the old values of an object for storing them with a revision. */
function printOldValues(values: OldValues): Json {
  return printDocument(oldValuesDefinition, values);
}

/** Parses the output of `printOldValues`. Undefined for other values. */
function parseOldValues(value: Json): OldValues | undefined {
  const read = readDocument(oldValuesDefinition, value);
  return 'problems' in read ? undefined : read.value;
}

function isManifest(values: JsonObject): values is Manifest {
  return [['apiVersion'], ['kind'], ['metadata', 'name']].every((path) => textAt(values, ...path) !== undefined);
}
