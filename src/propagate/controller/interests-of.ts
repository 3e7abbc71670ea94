import { type ClusterName, parseClusterName } from '../../core/names.ts';
import { keyOfManifest, kindOfKey, placeOfKey } from '../object-key.ts';
import type { ObjectKey, PropagationSpec } from '../spec.ts';
import type { Interest } from './interests.ts';
import type { Run } from './run.ts';

/** What a Propagation wants to hear of. */
export interface RunInterests {
  /** Copies, planned ones too. */
  readonly copies: readonly Interest[];
  /** What its template refers to: a change there makes the plan old. */
  readonly sources: readonly Interest[];
}

/** Of everything that is planned or held, and of what could not be planned yet for want of mirrors. */
export function interestsOf({ plan, shares, latest }: Run): RunInterests {
  const spec = latest === undefined || 'problems' in latest.spec ? undefined : latest.spec;
  const namespace = latest?.metadata.namespace ?? '';
  const planned = plan?.rendered.clusters.flatMap(({ chosen: { cluster }, objects, fault }) =>
    fault === undefined
      ? objects.map(({ key }) => interestIn(cluster, key))
      : templateKeys(spec, namespace).map((key) => interestIn(cluster, key)),
  );
  const held = [...(shares?.values() ?? [])].flatMap(({ cluster, entries }) => entries.map(({ key }) => interestIn(cluster, key)));
  return { copies: [...(planned ?? []), ...held], sources: sourcesOf(spec) };
}

function sourcesOf(spec: PropagationSpec | undefined): readonly Interest[] {
  return (spec?.template ?? []).flatMap((source) => {
    const cluster = source.type === 'ref' ? parseClusterName(source.cluster) : undefined;
    return source.type === 'ref' && cluster !== undefined ? [interestIn(cluster, source.key)] : [];
  });
}

function templateKeys(spec: PropagationSpec | undefined, namespace: string): readonly ObjectKey[] {
  return (spec?.template ?? []).map((source) => (source.type === 'ref' ? source.key : { namespace, ...keyOfManifest(source.manifest) }));
}

function interestIn(cluster: ClusterName, key: ObjectKey): Interest {
  return { cluster, kind: kindOfKey(key), place: placeOfKey(key) };
}
