import { listSchema, structureSchema } from '../core/json/documents.ts';
import {
  anyText,
  describedEnum,
  integer,
  labelKey,
  labelValue,
  message,
  partName,
  rules,
  textEnum,
  time,
} from '../core/json/field-definitions.ts';
import { type CustomResource, customResourceDefinitionOf } from '../propagate/hub/custom-resource.ts';
import { musterGroup, musterVersion } from '../propagate/model/propagation.ts';

/** The kind of registered clusters on the hub. */
export const clusterKind = { apiVersion: `${musterGroup}/${musterVersion}`, group: musterGroup, kind: 'Cluster' } as const;

/** Maximum number of characters in the name of a registered cluster. Karmada has the same limit. */
const maxRegisteredName = 48;

const taint = structureSchema({
  key: labelKey.describe('The key of the taint.'),
  value: labelValue.exactOptional().describe('Its value.'),
  effect: textEnum(['NoSchedule', 'NoExecute', 'PreferNoSchedule']).describe(
    'The effect of the taint on a Propagation that does not tolerate it.',
  ),
});

const spec = structureSchema({
  secretRef: structureSchema({ name: partName.describe('The name of the Secret.') }).describe(
    'The Secret with the credentials, in the system namespace of Muster. Its key `kubeconfig` is a kubeconfig with data only: no plugin, file or proxy.',
  ),
  provider: anyText.exactOptional().describe("The cloud provider. Default: that of its Nodes' providerID."),
  region: anyText.exactOptional().describe("The region of the cluster. Default: that of its Nodes' topology labels."),
  zones: listSchema(anyText, { max: 100 })
    .exactOptional()
    .describe("The zones of the cluster. Default: those of its Nodes' topology labels."),
  taints: listSchema(taint, { max: 100 }).exactOptional().describe('Taints, which keep away Propagations that do not tolerate them.'),
  namespaces: listSchema(partName, { max: 1_000 })
    .exactOptional()
    .describe('Namespaces to try first if a kind may not be listed in all namespaces.'),
  secrets: describedEnum('ClusterSecrets', 'Access to the Secrets of the cluster.', {
    None: 'No access. This is the default.',
    Metadata: 'Their metadata.',
    Live: 'Also their data, one Secret at a time.',
  })
    .exactOptional()
    .describe('Access to the Secrets of the cluster.'),
  identity: structureSchema({
    userPrefix: anyText.exactOptional().describe('The prefix that names of users get in this cluster.'),
    groupPrefix: anyText.exactOptional().describe('The prefix that names of groups get in this cluster.'),
  })
    .exactOptional()
    .describe('How users and groups are named in this cluster. Default: as they are named by the gateway.'),
});

const condition = structureSchema({
  type: textEnum(['Accepted']).describe('The type of the condition.'),
  status: textEnum(['True', 'False']).describe('Whether it holds.'),
  reason: describedEnum('RegistrationReason', 'Why a Cluster is accepted or not.', {
    Accepted: 'The Cluster is a member of the fleet.',
    Invalid: 'The kubeconfig cannot be used. The message has the path of the value.',
    SecretMissing: 'The Secret does not exist.',
    Duplicate: 'It is the same cluster as another member. The message has the name of that one.',
    NameTaken: 'Another member has the name.',
  }).describe('Why it holds, or not.'),
  message: message.describe('One sentence for people.'),
  lastTransitionTime: time.describe('The time of the last change of `status`.'),
  observedGeneration: integer(0, Number.MAX_SAFE_INTEGER).describe('The generation of the spec that was judged.'),
});

const status = structureSchema({
  phase: textEnum(['Connecting', 'Synced', 'Degraded', 'Unreachable'])
    .exactOptional()
    .describe('The state of the cluster, as in the graph. Absent for a Cluster that is no member.'),
  version: anyText.exactOptional().describe('The version of Kubernetes that the cluster reports.'),
  uid: anyText.exactOptional().describe('The uid of its Namespace `kube-system`. It tells the cluster from others of the same name.'),
  observedGeneration: integer(0, Number.MAX_SAFE_INTEGER).describe('The generation of the spec that the status is about.'),
  conditions: listSchema(condition, { max: 10 }).describe('The condition `Accepted`.'),
});

/** The custom resource `Cluster` of the hub. Each object registers one cluster. */
export const clusterResource: CustomResource = {
  kind: 'Cluster',
  plural: 'clusters',
  shortNames: [],
  categories: ['muster'],
  scope: 'Cluster',
  hasStatus: true,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Version', type: 'string', jsonPath: '.status.version' },
    { name: 'Region', type: 'string', jsonPath: '.spec.region' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  content: structureSchema({
    spec: spec.describe('How to reach the cluster, and how it is described.'),
    status: status.exactOptional().describe('The state of the cluster, written by Muster.'),
  })
    .describe('One cluster that is registered with Muster. Its labels are the labels of the cluster in the graph.')
    .meta(
      rules([
        `self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && size(self.metadata.name) <= ${maxRegisteredName}`,
        `metadata.name: expected at most ${maxRegisteredName} small letters, digits and -`,
      ]),
    ),
};

/** Returns the CustomResourceDefinition of `Cluster`. `deploy/crds/clusters.yaml` contains it. */
export function clusterDefinition() {
  return customResourceDefinitionOf(clusterResource);
}
