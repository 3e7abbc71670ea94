import type { V1Ingress, V1Service, V1ServicePort } from '@kubernetes/client-node';
import type { Stored } from '../stored.ts';
import { labelsText } from './label-texts.ts';
import { type AnsweredObject, ageColumn, type KindTable, type Maybe, nameColumn, orNone, type PrintedColumn } from './printed-column.ts';

type Service = AnsweredObject<V1Service> & {
  readonly spec?: Maybe<{
    readonly serviceSelector?: Maybe<Readonly<Record<string, string>>>;
    readonly servicePorts?: Maybe<readonly Stored<V1ServicePort, null>[]>;
  }>;
};
type Ingress = AnsweredObject<V1Ingress>;

const balancerFields = 'status { loadBalancer { ingress { ip hostname } } }';

const maxHosts = 3;

const serviceColumns: readonly PrintedColumn<Service>[] = [
  nameColumn,
  { header: 'TYPE', fields: 'spec { type }', cell: ({ spec }) => spec?.type ?? '' },
  { header: 'CLUSTER-IP', fields: 'spec { clusterIP clusterIPs }', cell: ({ spec }) => orNone(spec?.clusterIPs?.[0] ?? spec?.clusterIP) },
  { header: 'EXTERNAL-IP', fields: `spec { type externalIPs externalName } ${balancerFields}`, cell: externalText },
  {
    header: 'PORT(S)',
    fields: 'spec { servicePorts: ports { port nodePort protocol } }',
    cell: ({ spec }) => orNone((spec?.servicePorts ?? []).map(portText).join(',')),
  },
  ageColumn,
  {
    header: 'SELECTOR',
    isWide: true,
    fields: 'spec { serviceSelector: selector }',
    cell: ({ spec }) => orNone(labelsText(spec?.serviceSelector)),
  },
];

const ingressColumns: readonly PrintedColumn<Ingress>[] = [
  nameColumn,
  { header: 'CLASS', fields: 'spec { ingressClassName }', cell: ({ spec }) => spec?.ingressClassName ?? '<none>' },
  { header: 'HOSTS', fields: 'spec { rules { host } }', cell: ({ spec }) => hostsText((spec?.rules ?? []).map(({ host }) => host ?? '')) },
  { header: 'ADDRESS', fields: balancerFields, cell: addressText },
  { header: 'PORTS', fields: 'spec { tls { secretName } }', cell: ({ spec }) => ((spec?.tls ?? []).length > 0 ? '80, 443' : '80') },
  ageColumn,
];

/** The tables of Services and Ingresses. */
export const networkTables: readonly KindTable[] = [
  { group: '', kind: 'Service', columns: serviceColumns },
  { group: 'networking.k8s.io', kind: 'Ingress', columns: ingressColumns },
];

function externalText(service: Service): string {
  const { type, externalIPs, externalName } = service.spec ?? {};
  const own = externalIPs ?? [];
  switch (type) {
    case 'ClusterIP':
    case 'NodePort':
      return orNone(own.join(','));
    case 'LoadBalancer': {
      const all = [addressText(service), ...own].filter((address) => address !== '').join(',');
      return all === '' ? '<pending>' : all;
    }
    case 'ExternalName':
      return externalName ?? '';
    default:
      return '<unknown>';
  }
}

/** Returns the addresses of the load balancer, each once, in order of name. */
function addressText({ status }: Service | Ingress): string {
  const all = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '');
  return [...new Set(all.filter((address) => address !== ''))].toSorted().join(',');
}

function portText({ port, nodePort, protocol }: Stored<V1ServicePort, null>): string {
  return `${port ?? 0}${nodePort ? `:${nodePort}` : ''}/${protocol ?? ''}`;
}

/**
 * Returns the first hosts and the number of further rules. A rule without a host applies to all hosts. It is shown, as `*`, only if no rule
 * has a host.
 */
function hostsText(hosts: readonly string[]): string {
  const shown = hosts.flatMap((host, at) => (host === '' ? [] : [{ host, at }])).slice(0, maxHosts);
  if (shown.length === 0) return '*';
  const isCut = shown.length === maxHosts && (shown.at(-1)?.at ?? 0) < hosts.length - 1;
  return `${shown.map(({ host }) => host).join(',')}${isCut ? ` + ${hosts.length - maxHosts} more...` : ''}`;
}
