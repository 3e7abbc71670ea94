import type { ClusterApi } from '../../cluster/cluster-api.ts';
import { callTyped } from '../../cluster/typed-api.ts';
import type { GroupKind, ServedResource } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { deniedRight, type OwnRights, reasonLine, unknownRight } from './own-rights.ts';
import { attributesOf } from './review-attributes.ts';

interface LocalRightsOptions {
  /** Returns the API of a cluster. Undefined if the cluster has left. */
  readonly api: (cluster: ClusterName) => ClusterApi | undefined;
  /** Returns the resource that serves a kind. Undefined if the cluster has not answered yet. `absent` if it does not serve the kind. */
  readonly served: (cluster: ClusterName, kind: GroupKind) => ServedResource | 'absent' | undefined;
}

/** Creates the rights of local mode: SelfSubjectAccessReviews with the account of the kubeconfig, which every caller uses. */
export function createLocalRights({ api, served }: LocalRightsOptions): OwnRights {
  return {
    async explain(question, signal) {
      const member = api(question.cluster);
      if (member === undefined) return unknownRight('the cluster has left the fleet');
      const resource = served(question.cluster, question.kind);
      if (resource === undefined) return unknownRight('the cluster has not answered yet');
      if (resource === 'absent') return deniedRight('the cluster does not serve this kind');
      const body = { spec: { resourceAttributes: { ...attributesOf(question, resource), version: resource.version } } };
      const answer = await callTyped(
        member,
        ({ AuthorizationV1Api }, transport) => new AuthorizationV1Api(transport).createSelfSubjectAccessReview({ body }),
        { signal },
      );
      if (answer.result === 'failed') return unknownRight(`${answer.fault.code}: ${reasonLine(answer.fault.message)}`);
      const { allowed = false, denied = false, reason = '' } = answer.value.status ?? {};
      const stated = reasonLine(reason);
      if (!allowed || denied) return deniedRight(stated || 'no rule of the cluster allows it to the account of the kubeconfig');
      return { isAllowed: true, reason: stated || 'the cluster allows it, and gives no reason', namespaces: [] };
    },
  };
}
