import type { V1Node, V1NodeSystemInfo } from '@kubernetes/client-node';
import { type AnsweredObject, ageColumn, type KindTable, type Maybe, nameColumn, orNone, type PrintedColumn } from './printed-column.ts';

type Node = AnsweredObject<V1Node> & { readonly metadata: { readonly labels?: Maybe<Readonly<Record<string, string>>> } };

const rolePrefix = 'node-role.kubernetes.io/';

const nodeColumns: readonly PrintedColumn<Node>[] = [
  nameColumn,
  { header: 'STATUS', fields: 'spec { unschedulable } status { conditions { type status } }', cell: nodeStatus },
  { header: 'ROLES', fields: 'metadata { labels }', cell: ({ metadata }) => orNone(rolesOf(metadata.labels ?? {}).join(',')) },
  ageColumn,
  nodeInfoColumn('VERSION', 'kubeletVersion', ''),
  addressColumn('INTERNAL-IP', 'InternalIP'),
  addressColumn('EXTERNAL-IP', 'ExternalIP'),
  { ...nodeInfoColumn('OS-IMAGE', 'osImage', '<unknown>'), isWide: true },
  {
    header: 'KERNEL-VERSION',
    isWide: true,
    fields: 'status { nodeInfo { kernelVersion architecture } }',
    cell: ({ status }) => {
      const { kernelVersion, architecture } = status?.nodeInfo ?? {};
      return `${kernelVersion || '<unknown>'}${architecture ? ` (${architecture})` : ''}`;
    },
  },
  { ...nodeInfoColumn('CONTAINER-RUNTIME', 'containerRuntimeVersion', '<unknown>'), isWide: true },
];

/** The table of Nodes. */
export const nodeTable: KindTable = { group: '', kind: 'Node', columns: nodeColumns };

function nodeStatus({ spec, status }: Node): string {
  // If a Node has several conditions of one type, kubectl shows the last.
  const ready = (status?.conditions ?? []).findLast(({ type }) => type === 'Ready');
  const word = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec?.unschedulable === true ? `${word},SchedulingDisabled` : word;
}

function rolesOf(labels: Readonly<Record<string, string>>): readonly string[] {
  const roles = Object.entries(labels).map(([key, value]) => {
    if (key.startsWith(rolePrefix)) return key.slice(rolePrefix.length);
    return key === 'kubernetes.io/role' ? value : '';
  });
  return [...new Set(roles.filter((role) => role !== ''))].toSorted();
}

function nodeInfoColumn(header: string, field: Exclude<keyof V1NodeSystemInfo, 'swap'>, absent: string): PrintedColumn<Node> {
  return { header, fields: `status { nodeInfo { ${field} } }`, cell: ({ status }) => status?.nodeInfo?.[field] || absent };
}

function addressColumn(header: string, type: string): PrintedColumn<Node> {
  return {
    header,
    isWide: true,
    fields: 'status { addresses { type address } }',
    cell: ({ status }) => (status?.addresses ?? []).find((address) => address.type === type)?.address ?? '<none>',
  };
}
