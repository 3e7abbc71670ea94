import type { Accounts } from '../../../changes/acting-clients.ts';
import { sha256Of } from '../../../core/json/canonical-json.ts';
import { textOfKey } from '../../../manifests/object-key.ts';
import type { Note } from '../../model/notes.ts';
import type { FrozenSource, TemplateOrigin } from '../../model/plan.ts';
import type { PropagationSpec } from '../../model/spec.ts';
import type { TemplateObject } from './snapshot.ts';

/**
 * True if the rights of the requester serve one generation only. Drift is then only reported, and changes of references and dependencies are
 * not followed. False in local mode, and if a ServiceAccount acts.
 */
export function isForOneGeneration(accounts: Accounts, { runAs }: Pick<PropagationSpec, 'runAs'>): boolean {
  return accounts === 'many' && runAs.type !== 'serviceAccount';
}

/**
 * Returns the references and dependencies among the objects of a template, with a hash of their content. The hash of a Secret covers its
 * metadata, type and resourceVersion, and no data.
 */
export function frozenSourcesOf(templates: readonly TemplateObject[]): readonly FrozenSource[] {
  return templates.flatMap(({ manifest, source, sourceVersion }) =>
    source === undefined
      ? []
      : [{ cluster: source.cluster, key: source.key, hash: sha256Of([manifest, sourceVersion ?? null]).slice(0, 32) }],
  );
}

/** Returns one hash over all sources, in any order. */
export function hashOfSources(sources: readonly FrozenSource[]): string {
  return sha256Of(sources.map(({ hash, ...source }) => `${textOf(source)} ${hash}`).toSorted()).slice(0, 32);
}

/** Returns the object of a template. For a Secret, the result allows only the version that was read to be sent later (`secretOf.version`). */
export function withPinnedSecret(object: TemplateObject): TemplateObject {
  const { secretOf, sourceVersion: version } = object;
  return secretOf === undefined || version === undefined ? object : { ...object, secretOf: { ...secretOf, version } };
}

/**
 * Returns an error note for each source that differs from its frozen content, that was added, or that the template does not need any more.
 * A dependency that is missing gets no note here: its copies stay unchanged anyway.
 *
 * @param needed Every reference and dependency of the template, whether or not it exists.
 */
export function changedSourceNotes(
  frozen: readonly FrozenSource[],
  { templates, needed }: { readonly templates: readonly TemplateObject[]; readonly needed: readonly TemplateOrigin[] },
): readonly Note[] {
  const before = new Map(frozen.map((source) => [textOf(source), source.hash]));
  const now = frozenSourcesOf(templates);
  const known = new Set([...now, ...needed].map(textOf));
  return [
    ...now.filter((source) => before.get(textOf(source)) !== source.hash).map((source) => noteOf(source, 'has changed')),
    ...frozen.filter((source) => !known.has(textOf(source))).map((source) => noteOf(source, 'is not needed any more')),
  ];
}

/** Returns an error note if the sources differ from those that `propagate` planned this generation with. Without a record: no note. */
export function unacceptedSourceNotes(
  { requester }: Pick<PropagationSpec, 'requester'>,
  { contents }: { readonly contents: readonly FrozenSource[] | undefined },
): readonly Note[] {
  const accepted = requester?.sources;
  if (accepted === undefined || contents === undefined || hashOfSources(contents) === accepted) return [];
  const message = 'a reference or dependency has changed since propagate accepted this generation, so nothing is written';
  return [{ severity: 'ERROR', code: 'SOURCE_CHANGED', message: `${message}. ${remedy}`, path: 'template' }];
}

const remedy = 'Propagate again to accept its content, or use runAs.serviceAccount to follow changes';

function noteOf({ cluster, key: { kind, namespace, name } }: Pick<FrozenSource, 'cluster' | 'key'>, what: string): Note {
  const object = `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name} in cluster ${cluster}`;
  const message = `${object} ${what} since this generation was accepted, so the copies stay as they are`;
  return { severity: 'ERROR', code: 'SOURCE_CHANGED', message: `${message}. ${remedy}`, path: 'template' };
}

function textOf({ cluster, key }: Pick<FrozenSource, 'cluster' | 'key'>): string {
  return `${cluster} ${textOfKey(key)}`;
}
