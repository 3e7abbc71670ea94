import { type Command as Commander, Option } from 'commander';
import { humanDuration } from '../../core/columns/kubectl-text.ts';
import { type GatewayFlags, type RunCommand, withGatewayOptions } from '../arguments/gateway-options.ts';
import { type ClusterFault, ClusterFaultReport, faultFields } from '../client/cluster-faults.ts';
import type { Session } from '../client/session.ts';
import { jsonText } from '../output/json-text.ts';
import { renderTable } from '../output/table.ts';

const outputs = ['wide', 'json', 'name'] as const;

type Output = (typeof outputs)[number];

const help = `
ASOF is the age of the data about the cluster.
-o json prints a list of objects, -o name one name per line.
Exits with 1 if a cluster of --context has a fault.`;

/** Adds `muster clusters`: lists the clusters, and how current their data is. */
export function addClustersCommand(program: Commander, run: RunCommand): void {
  withGatewayOptions(program.command('clusters'))
    .description('list the clusters and their state')
    .addOption(new Option('-o, --output <format>', 'output format').choices(outputs))
    .addHelpText('after', help)
    .action((flags: GatewayFlags & { readonly output?: Output }) => run(flags, (session) => showClusters(session, flags.output)));
}

interface ClusterRow {
  readonly name: string;
  readonly version: string | null;
  readonly phase: string;
  readonly provider: string | null;
  readonly region: string | null;
  readonly zones: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly ageSeconds: number | null;
  readonly faults: readonly ClusterFault[];
}

const query = `query ($names: [String!]) {
  clusters(names: $names) { name version phase provider region zones labels ageSeconds faults { ${faultFields} } }
}`;

async function showClusters({ gateway, terminal, clusters: names }: Session, output: Output | undefined): Promise<number> {
  const { clusters } = await gateway.query<{ readonly clusters: readonly ClusterRow[] }>(query, { names });
  await terminal.out(printed(clusters, output));
  if (clusters.length === 0) terminal.err('No clusters found\n');
  const report = new ClusterFaultReport({ terminal, clusters: names });
  report.print(clusters.flatMap(({ faults }) => faults));
  const isUnwell = clusters.some(({ phase }) => phase === 'UNREACHABLE' || phase === 'CONNECTING');
  return names !== null && isUnwell ? 1 : report.exitCode();
}

function printed(clusters: readonly ClusterRow[], output: Output | undefined): string {
  if (output === 'json') return `${jsonText(clusters, 2)}\n`;
  if (output === 'name') return clusters.map(({ name }) => `${name}\n`).join('');
  const header = ['CLUSTER', 'VERSION', 'PHASE', 'REGION', 'PROVIDER', 'ASOF'];
  const wide = output === 'wide';
  return renderTable(
    wide ? [...header, 'ZONES', 'LABELS'] : header,
    clusters.map((cluster) => [...cells(cluster), ...(wide ? [cluster.zones.join(','), labelText(cluster.labels)] : [])]),
  );
}

function cells({ name, version, phase, region, provider, ageSeconds }: ClusterRow): readonly string[] {
  return [name, version ?? '', phase, region ?? '', provider ?? '', ageSeconds === null ? '' : humanDuration(ageSeconds * 1000)];
}

function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}
