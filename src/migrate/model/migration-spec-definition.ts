import { z } from 'zod';
import { checkedSchema, listSchema, type ReportProblem, structureSchema, translatedSchema, typeError } from '../../core/json/documents.ts';
import { amount, clusterText, describedEnum, duration, graphqlHints, partName, rules, text } from '../../core/json/field-definitions.ts';
import { isPathSegment } from '../../core/names.ts';
import { labelSelector } from '../../propagate/model/cluster-set-definition.ts';
import { objectKeyFields, withKey } from '../../propagate/model/object-key-definition.ts';
import { onFailure, requester, runAs } from '../../propagate/model/spec-definition.ts';

/** Maximum number of applications of one Migration. */
export const maxApps = 200;

const keyText = (max: number) => text(max).min(1, typeError(`a text of 1 to ${max} characters`));

const app = checkedSchema(
  translatedSchema(
    structureSchema({
      cluster: clusterText
        .exactOptional()
        .describe('The cluster of the workload. Only the cluster in `from` is possible, which is the default.'),
      apiVersion: keyText(253).describe(objectKeyFields.apiVersion.description ?? ''),
      kind: keyText(63).describe(objectKeyFields.kind.description ?? ''),
      namespace: keyText(63).exactOptional().describe('The namespace of the workload. Default: the namespace of the Migration.'),
      name: keyText(253).describe(objectKeyFields.name.description ?? ''),
      uid: text(63).exactOptional().describe('Only the workload with this uid.'),
    })
      .register(graphqlHints, { name: 'Target' })
      .describe('One workload to move.'),
    {
      decode(flat) {
        const [key, rest] = withKey(flat);
        return { key, ...rest };
      },
      encode: ({ key, ...rest }) => ({ ...rest, ...key }),
    },
  ),
  ({ key: { name, namespace } }, report) => {
    if (!isPathSegment(name)) report('expected the name of an object', 'name');
    if (namespace !== undefined && !isPathSegment(namespace)) report('expected the name of a namespace', 'namespace');
  },
);

const backup = checkedSchema(
  structureSchema({
    cluster: clusterText
      .exactOptional()
      .describe('The cluster whose Velero has the backup. Default: all clusters except `from` are searched.'),
    namespace: partName.max(63).default('velero').describe('The namespace of Velero in that cluster.'),
    name: partName.exactOptional().describe('The name of the Backup.'),
    labels: labelSelector
      .exactOptional()
      .describe('A selector for labels of Backups, such as `velero.io/schedule-name=daily`. The newest completed Backup is used.'),
    file: text(4_096).exactOptional().describe('The path of an archive below a folder in `backups.folders` of the config file.'),
  })
    .register(graphqlHints, { name: 'BackupInput' })
    .meta({
      description: 'A backup of Velero that has the manifests: exactly one of name, labels and file.',
      ...rules([
        '(has(self.name) ? 1 : 0) + (has(self.labels) ? 1 : 0) + (has(self.file) ? 1 : 0) == 1',
        'expected one of name, labels and file',
      ]),
    }),
  (given, report) => {
    const { name, labels, file } = given;
    if ([name, labels, file].filter((one) => one !== undefined).length !== 1) report('expected one of name, labels and file');
    if (labels?.requirements.length === 0) report('expected a selector with at least one condition', 'labels');
  },
);

const aFactor = typeError('a number greater than 0 and at most 1');

const copies = z.number(aFactor).gt(0, aFactor).max(1, aFactor).register(graphqlHints, { scalar: 'Float' });

const moveFields = {
  apps: listSchema(app, { min: 1, max: maxApps })
    .exactOptional()
    .describe('The workloads to move, of any kind with a scale subresource. Cannot be combined with `labels`.'),
  labels: labelSelector
    .exactOptional()
    .describe(
      'A selector for labels of the workloads to move: Deployments, StatefulSets and Argo Rollouts without a controlling owner. Cannot be combined with `apps`.',
    ),
  namespaces: listSchema(partName.max(63), { min: 1, max: 100 })
    .exactOptional()
    .describe('The namespaces in which `labels` selects applications. Default: the namespace of the Migration.'),
  from: clusterText.describe('The cluster that the applications leave.'),
  to: clusterText.describe('The cluster that the applications move to.'),
  copies: copies
    .default(1)
    .describe(
      'The factor for the number of replicas in the target, greater than 0 and at most 1. The result is rounded up, and at least 1.',
    ),
  priority: listSchema(text(317).min(1, typeError('a name, or namespace/name')), { max: maxApps })
    .default([])
    .describe(
      'The applications that move first, in this order: names, or `namespace/name`. Other applications follow, ordered by namespace and name.',
    ),
  source: describedEnum('MigrationSource', 'Where a migration reads manifests.', {
    Live: 'From the cluster that the applications leave.',
    Velero: 'From a backup of Velero, for example if the cluster cannot be reached.',
  })
    .default('Live')
    .describe('Where the manifests are read.'),
  backup: backup.exactOptional().describe('The backup that has the manifests. Required with `Velero`, and not possible without it.'),
  deadline: duration
    .exactOptional()
    .describe(
      'The time that an application may take to become healthy in the target, and that the hook that moves its traffic may take to succeed. ' +
        'It counts anew for each of the two. After it, the application has failed. Default: no limit.',
    ),
  soak: duration
    .default(0)
    .describe('The time for which an application runs in both clusters after its traffic has moved, such as 90s or 10m.'),
  maxConcurrency: amount(1)
    .exactOptional()
    .describe('The maximum number of applications that move at the same time: a number, or a percentage of all, rounded up. Default: all.'),
  traffic: partName
    .max(63)
    .exactOptional()
    .describe('The name of a hook of the config file that is called to move traffic. Default: no hook is called.'),
  onFailure: onFailure.default('Pause').describe('The reaction to a failed application.'),
  runAs: runAs
    .default({ type: 'requester' })
    .describe('The identity with which objects are read and written in both clusters. Default: the requester.'),
  requester: requester
    .exactOptional()
    .register(graphqlHints, { isAbsent: true })
    .describe('The user who made the request. The gateway sets this field, and the admission policy next to this definition protects it.'),
};

/** `spec` of a Migration. It never changes after the creation. */
export const migrationSpec = checkedSchema(
  structureSchema(moveFields).meta({
    description: 'The applications to move, the two clusters, and how to move.',
    ...rules(
      ['self == oldSelf', 'expected the same spec: the spec of a Migration cannot change'],
      ['has(self.apps) != has(self.labels)', 'expected either apps or labels'],
      ['has(self.labels) || !has(self.namespaces)', 'expected namespaces with labels only'],
      ['self.from != self.to', 'expected two different clusters in from and to'],
      ["has(self.backup) == (has(self.source) && self.source == 'Velero')", 'expected backup if source is Velero, and no backup otherwise'],
      ['!has(self.apps) || self.apps.all(a, !has(a.cluster) || a.cluster == self.from)', 'expected apps of the cluster in from'],
    ),
  }),
  checkMove,
);

/** The input of the GraphQL schema for a Migration. */
export const migrateInput = structureSchema({
  namespace: partName.describe('The namespace of the Migration on the hub.'),
  name: partName.describe('The name of the Migration.'),
  ...moveFields,
})
  .register(graphqlHints, { name: 'MigrateInput' })
  .describe('A request to move applications from one cluster to another.');

type MoveFields = { readonly [Name in keyof typeof moveFields]?: z.output<(typeof moveFields)[Name]> };

/** Checks the rules that concern several members together. */
function checkMove({ apps, labels, namespaces, from, to, source, backup: used }: MoveFields, report: ReportProblem): void {
  if ((apps === undefined) === (labels === undefined)) report('expected either apps or labels', 'apps');
  if (labels?.requirements.length === 0) report('expected a selector with at least one condition', 'labels');
  if (labels === undefined && namespaces !== undefined) report('expected namespaces with labels only', 'namespaces');
  if (from === to) report(`expected another cluster than ${from}`, 'to');
  if ((source === 'Velero') !== (used !== undefined)) {
    report(source === 'Velero' ? 'is required with source Velero' : 'expected none without source Velero', 'backup');
  }
  apps?.forEach(({ cluster }, index) => {
    if (cluster !== undefined && cluster !== from) report(`expected ${from}, the cluster in from`, 'apps', index, 'cluster');
  });
}
