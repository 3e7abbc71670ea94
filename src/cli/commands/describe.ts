import { type Command as Commander, Option } from 'commander';
import { eventColumnsOfObject } from '../../core/columns/event-table.ts';
import { kindAndName } from '../../core/columns/object-names.ts';
import { itemFields, type ListedItem, type PrintedColumn } from '../../core/columns/printed-column.ts';
import { objectSummary, summaryDefinition } from '../../core/columns/summary-columns.ts';
import type { JsonObject } from '../../core/json.ts';
import {
  type GatewayFlags,
  type RunCommand,
  type SelectionFlags,
  selectionVariables,
  withFieldSelector,
  withGatewayOptions,
  withSelection,
} from '../arguments/gateway-options.ts';
import { type ClusterFault, ClusterFaultReport, faultFields } from '../client/cluster-faults.ts';
import type { ResolvedKind } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import { findNamedObjects } from '../lists/find-named.ts';
import { columnsToPrint, locationColumns, selectionForColumns, tableLines } from '../lists/list-tables.ts';
import {
  maxRelated,
  type RelatedObjectPage,
  type RelationObjects,
  relatedFaultsIn,
  relatedFields,
  relatedObjectsIn,
} from '../lists/related-objects.ts';
import { type DocumentFormat, documentFormats, printAnswers } from '../output/print-answer.ts';
import { createTableColumns, type Paint, paintFor, printable, textOfLines } from '../output/table.ts';
import { checkSelector, type SelectorFlags } from '../writes/selected-targets.ts';

type DescribeFlags = GatewayFlags & SelectionFlags & Pick<SelectorFlags, 'fieldSelector'> & { readonly output?: DocumentFormat };

const help = `
Shows each object in each cluster and namespace that has it: the columns of
muster list -o wide, related objects in its cluster (owner, Pods, Services, Node
and so on, at most 20 of each), its YAML, and its last 20 events. Values of
Secrets are never shown.
  muster describe deploy web -n shop
  muster describe node/worker-1 pod/web-0 --context eu-prod
Exits with 1 if a name is in no cluster, with 3 if an object was not found and a
cluster did not answer.`;

/** Adds `muster describe`: shows all details of objects in all clusters. */
export function addDescribeCommand(program: Commander, run: RunCommand): void {
  withFieldSelector(withSelection(withGatewayOptions(program.command('describe'))))
    .description('show all details of objects, in all clusters')
    .argument('<object...>', 'KIND NAME, with further names, KIND/NAME, or KIND with -l')
    .addOption(new Option('-o, --output <format>', 'for programs: whole objects and their related objects').choices(documentFormats))
    .addHelpText('after', help)
    .action((words: readonly string[], flags: DescribeFlags) => {
      if (flags.selector !== undefined || flags.fieldSelector !== undefined) checkSelector(words, flags);
      return run(flags, (session) => describeObjects(session, words, flags));
    });
}

interface DescribedItem extends ListedItem {
  readonly rollout?: { readonly message: string } | null;
  readonly yaml?: string;
  readonly object?: JsonObject;
  readonly events: RelatedObjectPage<ListedItem>;
}

interface DescribedObject {
  readonly kind: ResolvedKind;
  readonly columns: readonly PrintedColumn[];
  readonly item: DescribedItem;
  readonly related: readonly RelationObjects[];
}

/** Objects per page. Each object has YAML and related objects, which count against the limits of the gateway. */
const pageSize = 25;

const withRollout: readonly string[] = ['Deployment', 'StatefulSet', 'DaemonSet'];

/**
 * Prints all details of objects in all clusters: columns, related objects, YAML and events. Values of Secrets are never printed.
 *
 * @returns The exit code: 1 if an object is in no cluster, or a cluster of `--context` has a fault; 3 if an object was not found and a cluster did
 * not answer.
 * @throws {CommandFailure} if the words name no object, or no cluster serves a kind.
 */
async function describeObjects(session: Session, words: readonly string[], { output, ...flags }: DescribeFlags): Promise<number> {
  const { namespaces, labels } = selectionVariables(flags);
  const report = new ClusterFaultReport(session);
  const columnsOf = new Map<ResolvedKind, readonly PrintedColumn[]>();
  const select = async (kind: ResolvedKind) => {
    const columns = [...locationColumns(kind), ...(await columnsToPrint(session, kind, { isWide: true }))];
    columnsOf.set(kind, columns);
    const whole = output === undefined ? 'yaml' : 'object';
    const rollout = kind.group === 'apps' && withRollout.includes(kind.kind) ? `... on ${kind.type} { rollout { message } }` : '';
    return {
      fields: `${selectionForColumns(kind, columns)} ${whole} ${rollout} ${relatedFields(kind)} ${eventFields}`,
      fragments: summaryDefinition,
    };
  };
  const { found, exitCode } = await findNamedObjects<DescribedItem>(session, {
    ...{ words, namespaces, labels, fieldSelector: flags.fieldSelector },
    ...{ report, select, pageSize },
  });
  const described = found.flatMap(({ kind, items }) =>
    items.map((item) => ({ kind, columns: columnsOf.get(kind) ?? [], item, related: relatedObjectsIn(kind, item) })),
  );
  const paint = paintFor(session.terminal);
  const nowMs = session.clock.now();
  const texts = described.map((one) => textOf(one, { nowMs, paint }));
  await session.terminal.out(
    output === undefined
      ? texts.join('\n')
      : printAnswers(
          described.map((one) => answerOf(one, nowMs)),
          output,
        ),
  );
  report.print(described.flatMap(({ kind, item }): readonly ClusterFault[] => [...relatedFaultsIn(kind, item), ...item.events.faults]));
  return exitCode || report.exitCode();
}

const eventFields = `events(first: ${maxRelated}) {
  totalCount items { ${itemFields} ${eventColumnsOfObject.map(({ fields }) => fields).join(' ')} } faults { ${faultFields} }
}`;

interface TextOptions {
  readonly nowMs: number;
  readonly paint: Paint;
}

function textOf({ columns, item, related }: DescribedObject, { nowMs, paint }: TextOptions): string {
  const at = { nowMs, isMixed: false };
  const title = (text: string) => paint(1, text);
  const row = columns.map((column) => column.cell(item, at));
  const rollout = item.rollout == null ? [] : ['', `${title('Rollout:')} ${printable(item.rollout.message)}`];
  const yaml = (item.yaml ?? '').trimEnd().split('\n').map(visible);
  const lines = [
    ...tableLines(columns, [row], { paint }),
    ...rollout,
    '',
    ...section(title('Related:'), relatedLines(item, related, nowMs)),
    '',
    ...section(title('Object:'), yaml),
    '',
    ...section(title('Events:'), eventLines(item.events, { nowMs, paint })),
  ];
  return textOfLines(lines);
}

/** Returns the title with the lines below it. Without lines, returns the title followed by `<none>`. */
function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [`${title} <none>`] : [title, ...lines.map((line) => (line === '' ? '' : `  ${line}`))];
}

/** Returns a line of YAML without terminal control characters. Spaces stay, because they have a meaning. */
function visible(line: string): string {
  return line
    .split(/( +)/)
    .map((part) => (part.startsWith(' ') ? part : printable(part)))
    .join('');
}

/** Returns the table of related objects. It has a column NAMESPACE if a related object is in another namespace than the object itself. */
function relatedLines(item: ListedItem, related: readonly RelationObjects[], nowMs: number): readonly string[] {
  const isElsewhere = related.some(({ items }) =>
    items.some(({ metadata }) => metadata.namespace && metadata.namespace !== item.metadata.namespace),
  );
  const placed = (namespace: string) => (isElsewhere ? [namespace] : []);
  const rows = related.flatMap(({ relation, items, more }) => [
    ...items.map((other) => {
      const { ready, status, age } = objectSummary(other, { nowMs, isMixed: true });
      return [relation, ...placed(other.metadata.namespace ?? ''), kindAndName(other), ready, status, age];
    }),
    ...(more > 0 ? [[relation, ...placed(''), `… and ${more} more`]] : []),
  ]);
  return createTableColumns(['RELATION', ...placed('NAMESPACE'), 'NAME', 'READY', 'STATUS', 'AGE']).lines(rows);
}

/** Returns the table of events, newest last, as in `kubectl describe`. */
function eventLines({ items, totalCount }: RelatedObjectPage<ListedItem>, { nowMs, paint }: TextOptions): readonly string[] {
  const at = { nowMs, isMixed: false };
  const rows = items.toReversed().map((event) => eventColumnsOfObject.map((column) => (column as PrintedColumn).cell(event, at)));
  const older = totalCount - items.length;
  return [...(older > 0 ? [`… and ${older} older`] : []), ...tableLines(eventColumnsOfObject as readonly PrintedColumn[], rows, { paint })];
}

function answerOf({ item, related }: DescribedObject, nowMs: number): JsonObject {
  const events = item.events.items.map((event) =>
    Object.fromEntries(
      eventColumnsOfObject.map((column) => [keyOf(column.header), (column as PrintedColumn).cell(event, { nowMs, isMixed: false })]),
    ),
  );
  return {
    cluster: item.cluster.name,
    object: item.object ?? {},
    related: related.map(({ relation, items, more }) => ({
      relation,
      items: items.map(({ apiVersion, kind, metadata }) => ({
        apiVersion,
        kind,
        namespace: metadata.namespace ?? null,
        name: metadata.name,
      })),
      more,
    })),
    events,
  };
}

/** Returns the JSON key of a column by its header: `lastSeen` for `LAST SEEN`. */
function keyOf(header: string): string {
  return header.toLowerCase().replaceAll(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
}
