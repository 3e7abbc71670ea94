import { idOfObject } from '../../core/object-ids.ts';
import type { SourceFlags } from '../arguments/gateway-options.ts';
import { type ObjectWord, parseObjectWords } from '../arguments/object-words.ts';
import { readManifestFiles } from '../arguments/read-sources.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import { resolveKinds } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import { hasSelector, type SelectorFlags, selectTargets } from './selected-targets.ts';
import type { TargetObject } from './write-results.ts';

/** The input type `Target`: an object in one cluster. */
export type WriteTargetInput =
  | { readonly id: string }
  | {
      readonly ref: {
        readonly cluster: string;
        readonly apiVersion: string;
        readonly kind: string;
        readonly namespace: string | null;
        readonly name: string;
      };
    };

/** Namespace and name of a Propagation on the hub. */
export interface PropagationKey {
  readonly namespace: string;
  readonly name: string;
}

/** The objects that a command line names, in all clusters. Propagations are listed once, because they exist only on the hub. */
export interface ResolvedTargets {
  readonly targets: readonly WriteTargetInput[];
  /** The objects of the targets, in the same order. */
  readonly objects: readonly TargetObject[];
  readonly propagations: readonly PropagationKey[];
  /** True if a cluster that did not answer may have further objects. */
  readonly isPartial: boolean;
}

/** The flags that choose objects. */
export type TargetFlags = SourceFlags & SelectorFlags;

/**
 * Finds the objects of `KIND NAME…`, `KIND/NAME…`, `KIND` with a selector, or `-f`, in the clusters of `--context`, else in all clusters.
 *
 * @throws {CommandFailure} if the words and flags choose no object, no cluster serves a kind, or a file cannot be read.
 */
export async function resolveTargets(session: Session, words: readonly string[], flags: TargetFlags): Promise<ResolvedTargets> {
  if (hasSelector(flags)) {
    if (flags.filename !== undefined) throw new CommandFailure(exitCodes.refused, 'expected a selector or -f, got both');
    if (isPropagationWord(words[0] ?? '')) throw new CommandFailure(exitCodes.refused, 'expected names of Propagations, got a selector');
    return { ...(await selectTargets(session, words, flags)), propagations: [] };
  }
  if (flags.allNamespaces === true) throw new CommandFailure(exitCodes.refused, 'expected a selector with -A');
  if (words.length > 0 && flags.filename !== undefined) throw new CommandFailure(exitCodes.refused, 'expected names or -f, got both');
  if (flags.filename === undefined) return namedObjects(session, parseObjectWords(words, wanted), flags.namespace ?? 'default');
  const manifests = await readManifestFiles(session, flags);
  const clusters = await targetClusters(session);
  const own = manifests.filter(isPropagation);
  const others = manifests.filter((manifest) => !isPropagation(manifest));
  const objects = others.flatMap((object) => clusters.map((cluster) => ({ cluster, object })));
  const targets = others.flatMap(({ apiVersion, kind, metadata: { namespace = null, name } }) =>
    clusters.map((cluster) => ({ ref: { cluster, apiVersion, kind, namespace, name } })),
  );
  return {
    targets,
    objects,
    propagations: own.map(({ metadata: { namespace = 'default', name } }) => ({ namespace, name })),
    isPartial: false,
  };
}

/** Parts of the error message for words that name no object. */
const wanted = { words: 'KIND NAME, KIND/NAME or -f', why: 'a change needs names, -l, --field-selector or --all' };

/** Returns the clusters of `--context`, else queries all clusters. */
export async function targetClusters({ gateway, clusters }: Pick<Session, 'gateway' | 'clusters'>): Promise<readonly string[]> {
  if (clusters !== null) return clusters;
  const { clusters: all } = await gateway.query<{ readonly clusters: readonly { readonly name: string }[] }>('{ clusters { name } }', {});
  return all.map(({ name }) => name);
}

/** True for a Propagation of any version. */
export function isPropagation({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return kind === 'Propagation' && apiVersion.startsWith('muster.dev/');
}

function isPropagationWord(kind: string): boolean {
  return /^prop(?:agations?)?(?:\.(?:v1alpha1\.)?muster\.dev)?$/i.test(kind);
}

async function namedObjects(session: Session, objects: readonly ObjectWord[], namespace: string): Promise<ResolvedTargets> {
  const isOwn = ({ kind }: ObjectWord) => isPropagationWord(kind);
  const others = objects.filter((object) => !isOwn(object));
  const kinds = new Map<string, { readonly group: string; readonly kind: string; readonly namespaced: boolean }>();
  for (const { kind } of others) if (!kinds.has(kind)) kinds.set(kind, await kindOf(session, kind));
  const clusters = others.length === 0 ? [] : await targetClusters(session);
  const resolved = others.flatMap(({ kind: word, name }) => {
    const found = kinds.get(word);
    if (found === undefined) return [];
    const { group, kind, namespaced } = found;
    const place = namespaced ? namespace : '';
    const object = { apiVersion: group === '' ? 'v1' : `${group}/`, kind, metadata: { name, namespace: place } };
    return clusters.map((cluster) => ({ id: idOfObject({ cluster, group, kind, namespace: place, name }), cluster, object }));
  });
  const targets = resolved.map(({ id }) => ({ id }));
  return { targets, objects: resolved, propagations: objects.filter(isOwn).map(({ name }) => ({ namespace, name })), isPartial: false };
}

/**
 * Returns the kind that a word means. The first cluster that serves it is enough: group, kind and `namespaced` are the same in all clusters.
 *
 * @throws {CommandFailure} if no cluster serves the kind.
 */
async function kindOf(session: Session, word: string) {
  const [resolved] = await resolveKinds(session, [word]);
  if (resolved === undefined) throw new CommandFailure(exitCodes.failed, `no cluster serves ${word}`);
  return resolved.kind;
}
