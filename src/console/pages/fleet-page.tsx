import { humanDuration } from '../../core/columns/kubectl-text.ts';
import { kindPath } from '../browser/paths.ts';
import { faultText, type ShownFault, shownFaultFields } from '../gateway/faults.ts';
import { usePolled } from '../gateway/use-polled.ts';
import { Alert } from '../parts/alert.tsx';
import { Heading } from '../parts/heading.tsx';
import { countedText } from '../parts/texts.ts';
import { DataTable } from '../table/data-table.tsx';
import type { TableColumn, Tone } from '../table/table-column.ts';

interface ClusterRow {
  readonly name: string;
  readonly version: string | null;
  readonly phase: string;
  readonly region: string | null;
  readonly ageSeconds: number | null;
  readonly faults: readonly ShownFault[];
}

interface FleetAnswer {
  readonly clusters: readonly ClusterRow[];
  readonly gateway: { readonly version: string; readonly demo: boolean; readonly schemaProblem: string | null };
}

const query = `{
  clusters { name version phase region ageSeconds faults { ${shownFaultFields} } }
  gateway { version demo schemaProblem }
}`;

const tones: Readonly<Record<string, Tone>> = { SYNCED: 'good', DEGRADED: 'warn', UNREACHABLE: 'bad', CONNECTING: 'busy' };

const columns: readonly TableColumn<ClusterRow>[] = [
  { header: 'Name', text: ({ name }) => name, href: ({ name }) => kindPath('pods', { clusters: name }) },
  { header: 'Phase', text: ({ phase }) => phase, tone: ({ phase }) => tones[phase] },
  { header: 'Version', text: ({ version }) => version ?? '' },
  { header: 'Region', text: ({ region }) => region ?? '' },
  { header: 'Age', text: ({ ageSeconds }) => (ageSeconds === null ? 'never' : humanDuration(ageSeconds * 1_000)) },
  { header: 'Faults', text: ({ faults }) => faults.map(faultText).join('; '), tone: ({ phase }) => (phase === 'SYNCED' ? 'dim' : 'bad') },
];

/** Shows all clusters with their state. */
export function FleetPage() {
  const { data, failure } = usePolled<FleetAnswer>({ query, everyMs: 5_000 });
  return (
    <>
      <Heading
        title="Fleet"
        kicker={data === undefined ? undefined : `Muster ${data.gateway.version}${data.gateway.demo ? ', embedded demo fleet' : ''}`}
      />
      {failure === undefined ? null : <Alert>{failure.message}</Alert>}
      {data?.gateway.schemaProblem ? <Alert>{data.gateway.schemaProblem}</Alert> : null}
      <p role="status" class={silentIn(data?.clusters).length > 0 ? 'status-line warn' : 'status-line'}>
        {data === undefined ? 'Loading' : fleetText(data.clusters)}
      </p>
      <DataTable name="Clusters" rows={data?.clusters ?? []} columns={columns} keyOf={({ name }) => name} isMain />
    </>
  );
}

/** Returns the names of the clusters that do not answer. */
function silentIn(clusters: readonly ClusterRow[] = []): readonly string[] {
  return clusters.filter(({ phase }) => phase === 'UNREACHABLE' || phase === 'CONNECTING').map(({ name }) => name);
}

/** Returns `3 clusters, 1 does not answer: south`. */
function fleetText(clusters: readonly ClusterRow[]): string {
  if (clusters.length === 0) return 'No clusters. Add contexts to the kubeconfig, or register a cluster with muster join.';
  const silent = silentIn(clusters);
  const rest =
    silent.length === 0 ? 'all answer' : `${silent.length} ${silent.length === 1 ? 'does' : 'do'} not answer: ${silent.join(', ')}`;
  return `${countedText(clusters.length, 'cluster', 'clusters')}, ${rest}`;
}
