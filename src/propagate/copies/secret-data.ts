import type { Fault, FaultCode } from '../../core/faults.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { RenderedObject } from '../plan.ts';
import type { Manifest } from '../spec.ts';
import type { CopyWork } from './copies.ts';
import { copyFault } from './copy-reason.ts';

/** As every API server serves it: the source is asked without having to be discovered. */
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
  /** Of the cluster that is written to: nothing can be sent to it. */
  | { readonly result: 'failed'; readonly fault: Fault };

/**
 * What is sent for an object: of a Secret by `ref` its manifest with the data and the type of the source, read live now. They are handed to the
 * API server and nowhere else: neither kept, hashed nor told.
 */
export async function sentManifest(
  { desired, secretOf }: Pick<RenderedObject, 'desired' | 'secretOf'>,
  { sourceOf, share }: Pick<CopyWork, 'sourceOf'> & { readonly share: Pick<CopyWork['share'], 'cluster'> },
  signal: AbortSignal,
): Promise<SentManifest> {
  if (secretOf === undefined) return { result: 'read', manifest: desired };
  const { cluster, namespace, name } = secretOf;
  const refused = (code: FaultCode, message: string): SentManifest => ({
    result: 'failed',
    fault: copyFault(share.cluster, code, message),
  });
  const answer = await sourceOf(cluster)?.get({ resource: secrets, namespace, name }, signal);
  if (answer === undefined) return refused('GONE', `the cluster of the Secret it is read from is no member: ${cluster}`);
  if (answer.result === 'failed') {
    const { code, message } = answer.fault;
    return refused(code, `the Secret it is read from, in ${cluster}: ${message}`);
  }
  if (answer.result === 'absent') return refused('INVALID', `the Secret it is read from is not there, in ${cluster}`);
  const { data, type } = answer.object as JsonObject;
  const filled = {
    ...desired,
    ...(isJsonObject(data) ? { data } : {}),
    ...(typeof type === 'string' && desired.type === undefined ? { type } : {}),
  };
  return { result: 'read', manifest: filled };
}
