import type { Fault } from '../core/faults.ts';
import { isJsonObject } from '../core/json.ts';
import { breakage, faultOf } from './classify.ts';
import type { ClusterApi } from './cluster-api.ts';
import { askJson } from './live-json.ts';

export type VersionAnswer =
  | {
      readonly type: 'answered';
      /** `v1.36.3`. */
      readonly version: string;
      /** 1 and 36; 0 where the server says neither. */
      readonly major: number;
      readonly minor: number;
    }
  | { readonly type: 'failed'; readonly fault: Fault };

/** What the server says of itself: `GET /version`. */
export async function askVersion(api: ClusterApi, signal: AbortSignal): Promise<VersionAnswer> {
  const answer = await askJson(api, { method: 'GET', path: ['version'] }, signal);
  if (answer.type === 'failed') return answer;
  const version = answer.type === 'answered' && isJsonObject(answer.value) ? answer.value.gitVersion : undefined;
  if (typeof version !== 'string') return { type: 'failed', fault: malformed(api, 'expected a version with a gitVersion') };
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return { type: 'answered', version: version.slice(0, 64), major: Number(major ?? 0), minor: Number(minor ?? 0) };
}

export type UidAnswer = { readonly type: 'answered'; readonly uid: string } | { readonly type: 'failed'; readonly fault: Fault };

/** The uid of the namespace `kube-system`: equal for two contexts exactly if they lead to one cluster. */
export async function askClusterUid(api: ClusterApi, signal: AbortSignal): Promise<UidAnswer> {
  const path = ['api', 'v1', 'namespaces', 'kube-system'];
  const answer = await askJson(
    api,
    { method: 'GET', path, accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' },
    signal,
  );
  if (answer.type === 'failed') return answer;
  const metadata = answer.type === 'answered' && isJsonObject(answer.value) ? answer.value.metadata : undefined;
  const uid = isJsonObject(metadata) ? metadata.uid : undefined;
  if (typeof uid !== 'string' || uid === '') return { type: 'failed', fault: malformed(api, 'expected a namespace with a uid') };
  return { type: 'answered', uid };
}

function malformed(api: ClusterApi, message: string): Fault {
  return faultOf(breakage('MALFORMED', message), { cluster: api.cluster });
}
