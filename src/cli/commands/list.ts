import { type Command as Commander, Option } from 'commander';
import type { JsonObject } from '../../core/json.ts';
import { type ClusterFault, FaultReport, faultFields } from '../cluster-faults.ts';
import { CommandFailure, exitCodes } from '../command-failure.ts';
import {
  type GatewayFlags,
  kindsOf,
  type Run,
  type SelectionFlags,
  selectionOf,
  withGatewayOptions,
  withSelection,
} from '../gateway-options.ts';
import { ageOf } from '../human-duration.ts';
import { fullName, kindAndName, type NamedObject } from '../object-names.ts';
import type { Session } from '../session.ts';
import { createColumns, printable } from '../table.ts';

const outputs = ['wide', 'json', 'yaml', 'name'] as const;

type Output = (typeof outputs)[number];

type ListFlags = GatewayFlags & SelectionFlags & { readonly output?: Output };

const help = `
KIND is any name of a kind: pods, po, Pod, deployments.apps, certificates.

  -o wide  adds the API version and the uid
  -o json  a List, as kubectl prints it; each object says its cluster in the
           annotation muster.dev/cluster:
             jq -r '.items[].metadata | .annotations["muster.dev/cluster"]'
  -o yaml  a document per object, below a comment with its cluster
  -o name  a line per object: CLUSTER/NAMESPACE/KIND/NAME; the namespace is
           empty for what has none

What a cluster cannot do is told on standard error, and the others are listed
all the same. Exits with 1 only if that cluster was named by --context.`;

/** `muster list`: objects of some kinds, of all clusters. */
export function addList(program: Commander, run: Run): void {
  withGatewayOptions(withSelection(program.command('list')))
    .alias('get')
    .description('list objects of all clusters')
    .argument('<kind[,kind]>', 'which kinds', kindsOf)
    .addOption(new Option('-o, --output <format>', 'how they are printed').choices(outputs))
    .addHelpText('after', help)
    .action((kinds: readonly string[], flags: ListFlags) => run(flags, (session) => listObjects(session, kinds, flags)));
}

/** Most that the gateway gives at once. */
const pageSize = 500;

const namedFields = 'apiVersion kind cluster { name } metadata { name namespace uid creationTimestamp }';

interface ListedObject extends NamedObject {
  readonly cluster: { readonly name: string };
  readonly metadata: NamedObject['metadata'] & { readonly uid: string | null; readonly creationTimestamp: string | null };
  readonly object?: JsonObject;
  readonly yaml?: string;
}

interface Page {
  readonly items: readonly ListedObject[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly faults: readonly ClusterFault[];
  /** One for each cluster that serves one of the kinds, as far as that is known. */
  readonly sync: readonly { readonly phase: string }[];
}

async function listObjects(session: Session, kinds: readonly string[], flags: ListFlags): Promise<number> {
  const { terminal } = session;
  const report = new FaultReport(session);
  const faults: ClusterFault[] = [];
  const sink = sinkFor(session, { output: flags.output, isMixed: kinds.length > 1 });
  let count = 0;
  for await (const page of pages(session, kinds, flags)) {
    if (page.sync.length === 0) throw new CommandFailure(exitCodes.failed, `no cluster serves ${kinds.join(',')}`);
    count += page.items.length;
    faults.push(...page.faults);
    await sink.take(page.items);
  }
  await sink.end();
  if (count === 0 && isTable(flags.output)) terminal.err('No resources found\n');
  report.tell(faults);
  return report.exitCode();
}

/** All pages: cursors go on where the last one ended, whatever changes meanwhile. */
async function* pages({ gateway, clusters }: Session, kinds: readonly string[], flags: ListFlags): AsyncIterable<Page> {
  const extra = flags.output === 'json' ? 'object' : flags.output === 'yaml' ? 'yaml' : '';
  const query = `query ($kinds: [String!]!, $clusters: [String!], $namespaces: [String!], $labels: String,
    $orderBy: [OrderBy!], $first: Int, $after: String) {
    resources(kinds: $kinds, clusters: $clusters, namespaces: $namespaces, labels: $labels, orderBy: $orderBy,
      first: $first, after: $after) {
      items { ${namedFields} ${extra} } pageInfo { hasNextPage endCursor } faults { ${faultFields} } sync { phase }
    }
  }`;
  // As kubectl prints several kinds: one after the other.
  const orderBy = kinds.length > 1 ? [{ path: 'kind' }] : null;
  let after: string | null = null;
  do {
    const variables: JsonObject = { kinds, clusters, ...selectionOf(flags), orderBy, first: pageSize, after };
    const { resources }: { readonly resources: Page } = await gateway.query(query, variables);
    yield resources;
    after = resources.pageInfo.hasNextPage ? resources.pageInfo.endCursor : null;
  } while (after !== null);
}

function isTable(output: Output | undefined): boolean {
  return output === undefined || output === 'wide';
}

/** Takes objects page by page. */
interface Sink {
  take(items: readonly ListedObject[]): Promise<void>;
  end(): Promise<void>;
}

function sinkFor(
  { terminal, clock }: Session,
  { output, isMixed }: { readonly output: Output | undefined; readonly isMixed: boolean },
): Sink {
  switch (output) {
    case 'json':
      return jsonSink((text) => terminal.out(text));
    case 'yaml':
      return yamlSink((text) => terminal.out(text));
    case 'name':
      return {
        take: (items) => terminal.out(items.map((item) => `${fullName(item.cluster.name, item)}\n`).join('')),
        end: async () => undefined,
      };
    case undefined:
    case 'wide':
      return tableSink((text) => terminal.out(text), { isWide: output === 'wide', isMixed, nowMs: clock.now() });
    default:
      throw output satisfies never;
  }
}

type Write = (text: string) => Promise<void>;

interface TableOptions {
  readonly isWide: boolean;
  /** Several kinds: names say which. */
  readonly isMixed: boolean;
  readonly nowMs: number;
}

/** One table of all pages: how wide a column is, is known at the end. */
function tableSink(write: Write, { isWide, isMixed, nowMs }: TableOptions): Sink {
  const rows: (readonly string[])[] = [];
  const columns = createColumns(['CLUSTER', 'NAMESPACE', 'NAME', 'AGE', ...(isWide ? ['APIVERSION', 'UID'] : [])]);
  return {
    take: async (items) => {
      for (const item of items) {
        const { cluster, apiVersion, metadata } = item;
        const name = isMixed ? kindAndName(item) : metadata.name;
        const wide = isWide ? [apiVersion, metadata.uid ?? ''] : [];
        rows.push([cluster.name, metadata.namespace ?? '', name, ageOf(metadata.creationTimestamp, nowMs), ...wide]);
      }
    },
    end: () =>
      write(
        columns
          .lines(rows)
          .map((line) => `${line}\n`)
          .join(''),
      ),
  };
}

/** A List, object by object, each with its cluster as an annotation: so it is still what kubectl reads. */
function jsonSink(write: Write): Sink {
  let isFirst = true;
  return {
    take: async (items) => {
      for (const { object = {}, cluster } of items) {
        const text = JSON.stringify(withCluster(object, cluster.name), null, 4).replaceAll('\n', '\n        ');
        await write(`${isFirst ? '{\n    "apiVersion": "v1",\n    "items": [\n' : ',\n'}        ${text}`);
        isFirst = false;
      }
    },
    end: () =>
      write(`${isFirst ? '{\n    "apiVersion": "v1",\n    "items": [],\n' : '\n    ],\n'}    "kind": "List",\n    "metadata": {}\n}\n`),
  };
}

function withCluster(object: JsonObject, cluster: string): JsonObject {
  const metadata = (object.metadata ?? {}) as JsonObject;
  const annotations = (metadata.annotations ?? {}) as JsonObject;
  return { ...object, metadata: { ...metadata, annotations: { ...annotations, 'muster.dev/cluster': cluster } } };
}

function yamlSink(write: Write): Sink {
  let isFirst = true;
  return {
    take: async (items) => {
      for (const { yaml = '', cluster } of items) {
        await write(`${isFirst ? '' : '---\n'}# cluster: ${printable(cluster.name)}\n${yaml}`);
        isFirst = false;
      }
    },
    end: async () => undefined,
  };
}
