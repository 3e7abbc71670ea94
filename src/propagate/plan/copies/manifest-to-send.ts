import type { Fault, FaultCode } from '../../../core/faults.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { ServedResource } from '../../../core/kinds.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { withSecretContent } from '../../../manifests/secret-content.ts';
import type { RenderedObject } from '../../model/plan.ts';
import { copyFault } from './copy-reason.ts';
import type { CopyWork } from './copy-work.ts';

/** The resource for reading Secrets. Every API server serves Secrets in this way, so no discovery is needed. */
const secrets: ServedResource = {
  group: '',
  kind: 'Secret',
  version: 'v1',
  versions: ['v1'],
  resource: 'secrets',
  singular: 'secret',
  namespaced: true,
  verbs: ['get'],
  shortNames: [],
  categories: [],
};

type SentManifest =
  | { readonly result: 'read'; readonly manifest: Manifest }
  /**
   * The source Secret could not be read. The fault names the cluster of the copy, not that of the source, because the copy cannot be
   * written.
   */
  | { readonly result: 'failed'; readonly fault: Fault };

/**
 * Returns the manifest to send. For a Secret that the template refers to (`ref`), it reads the source live, and adds its content. A source that has another version than `secretOf` is refused. The data go to the API server only: they are never stored, hashed or logged.
 */
export async function manifestToSend(
  { desired, secretOf }: Pick<RenderedObject, 'desired' | 'secretOf'>,
  { sourceOf, share }: Pick<CopyWork, 'sourceOf'> & { readonly share: Pick<CopyWork['share'], 'cluster'> },
  signal: AbortSignal,
): Promise<SentManifest> {
  if (secretOf === undefined) return { result: 'read', manifest: desired };
  const { cluster, namespace, name, version } = secretOf;
  const refused = (code: FaultCode, message: string): SentManifest => ({
    result: 'failed',
    fault: copyFault(share.cluster, code, message),
  });
  const answer = await sourceOf(cluster)?.get({ resource: secrets, namespace, name }, signal);
  if (answer === undefined) return refused('GONE', `the cluster of the source Secret is not in the fleet: ${cluster}`);
  if (answer.result === 'failed') {
    const { code, message } = answer.fault;
    return refused(code, `the source Secret in ${cluster}: ${message}`);
  }
  if (answer.result === 'absent') return refused('INVALID', `the source Secret does not exist in ${cluster}`);
  if (version !== undefined && answer.object.metadata.resourceVersion !== version)
    return refused('CONFLICT', `the source Secret in ${cluster} has changed since it was planned`);
  return { result: 'read', manifest: withSecretContent(desired, answer.object as JsonObject) };
}
