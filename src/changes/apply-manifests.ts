import { MusterError } from '../core/errors.ts';
import { fault } from '../core/faults.ts';
import { groupOfApiVersion } from '../core/kinds.ts';
import type { ClusterName } from '../core/names.ts';
import { runAtOnce, type Steps } from '../core/scheduling/operation-scheduler.ts';
import type { Manifest } from '../manifests/manifest.ts';
import { manifestJsonInSteps, manifestTextInSteps } from '../manifests/read-manifests.ts';
import { writeRankOf } from '../manifests/write-order.ts';
import { addressOfTarget, type ChangeTarget, checkCount, visibleCluster } from './change-targets.ts';
import { createRedaction, type ObjectChangesOptions, recordChanges, unlessAborted } from './changes-outcome.ts';
import type { ManifestInput, ObjectChangeResult, ObjectChanges, ObjectChangesOutcome } from './object-changes.ts';
import type { WriteContext } from './write-context.ts';
import { failedChange, writeObject } from './write-object.ts';

/**
 * Applies each manifest in each cluster. Clusters are written at the same time. In one cluster, the writes run one after another:
 * Namespaces first, then CustomResourceDefinitions, then all other manifests in the given order. Results are in the given order of the
 * manifests. Logs each real write.
 *
 * Removes fields that are valid in one cluster only, such as the resourceVersion. So an export of one cluster can be applied to another
 * one. An apply therefore never checks the version of the existing object. Without `force`, field ownership protects the fields of other
 * managers. To check a version, use a patch whose target has a `resourceVersion`.
 *
 * @throws {MusterError} `BAD_INPUT` for more than 1,000 writes, and for unknown or hidden clusters. For manifests that cannot be read, its
 * message has their index, the path and the expected value.
 */
export function applyManifests(
  options: ObjectChangesOptions,
  context: WriteContext,
  { manifests: given, clusters: names, force, dryRun }: Parameters<ObjectChanges['apply']>[1],
): Promise<ObjectChangesOutcome> {
  const { members, access } = options;
  const { caller, timeSlices, signal } = context;
  return recordChanges(options, { context, verb: 'apply', dryRun, force }, async () => {
    const clusters = [...new Set(names)].map((name) => visibleCluster(name, { members, access, caller }));
    const manifests = await (timeSlices === undefined ? runAtOnce(readAll(given)) : timeSlices.run(readAll(given)));
    checkCount(manifests.length * clusters.length);
    const inOrder = manifests.toSorted((a, b) => applyRankOf(a) - applyRankOf(b));
    const columns = await Promise.all(
      clusters.map(async (cluster) => {
        const results = new Map<Manifest, ObjectChangeResult>();
        for (const manifest of inOrder) {
          const result = await unlessAborted(() => applyOne(options, context, { cluster, manifest, force, dryRun }), signal);
          if (result !== undefined) results.set(manifest, result);
        }
        return results;
      }),
    );
    // Results are ordered by manifest, then by cluster.
    return { manifests, results: manifests.flatMap((manifest) => columns.flatMap((column) => column.get(manifest) ?? [])) };
  });
}

/**
 * Returns a number that sorts manifests: Namespaces first, then CustomResourceDefinitions. All other kinds have the same number, so their
 * given order stays.
 */
function applyRankOf({ apiVersion, kind }: Manifest): number {
  return Math.min(writeRankOf({ group: groupOfApiVersion(apiVersion), kind }), writeRankOf({ group: '', kind: 'ServiceAccount' }));
}

function* readAll(given: readonly ManifestInput[]): Steps<readonly Manifest[]> {
  const manifests: Manifest[] = [];
  for (const [index, input] of given.entries()) for (const manifest of yield* readOne(input, index)) manifests.push(manifest);
  return manifests;
}

function* readOne(input: ManifestInput, index: number): Steps<readonly Manifest[]> {
  const opened = { lists: 'opened' } as const;
  const read = yield* 'yaml' in input ? manifestTextInSteps(input.yaml, opened) : manifestJsonInSteps(input.json, opened);
  if (read.result === 'read') return read.manifests;
  const below = read.path === '' ? '' : read.path.startsWith('[') ? read.path : `.${read.path}`;
  throw new MusterError('BAD_INPUT', `manifests[${index}]${below}: ${read.message}`);
}

interface OneApply {
  readonly cluster: ClusterName;
  readonly manifest: Manifest;
  readonly force: boolean;
  readonly dryRun: boolean;
}

async function applyOne(
  { members, clientOf, isSensitive }: ObjectChangesOptions,
  context: WriteContext,
  { cluster, manifest, force, dryRun }: OneApply,
): Promise<ObjectChangeResult> {
  const { signal } = context;
  const { apiVersion, kind: kindName, metadata } = manifest;
  const kind = { group: groupOfApiVersion(apiVersion), kind: kindName };
  const { namespace, name } = metadata;
  const place = namespace === undefined ? {} : { namespace };
  const target: ChangeTarget = { cluster, kind, apiVersion, ...place, name, preconditions: {} };
  const addressed = await addressOfTarget(target, members, signal);
  if (addressed.result === 'failed') return failedChange(cluster, addressed.key, addressed.fault);
  const { address, key } = addressed;
  const client = clientOf(cluster, context);
  if (client === undefined) {
    return failedChange(cluster, key, fault('GONE', 'the cluster has left the fleet', { cluster, kind, retry: 'NEVER' }));
  }
  const run = dryRun ? 'dry' : 'real';
  const redaction = createRedaction(isSensitive(kind));
  // The namespace in the body must equal that of the path, or be absent for cluster-scoped kinds.
  const { namespace: _written, ...rest } = metadata;
  const sent: Manifest = { ...manifest, metadata: address.namespace === undefined ? rest : { ...rest, namespace: address.namespace } };
  return writeObject(
    { client, address, key, run, redaction },
    () => client.apply({ ...address, manifest: sent, preconditions: {}, force, run }, signal),
    signal,
  );
}
