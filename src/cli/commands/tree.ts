import { type Command as Commander, Option } from 'commander';
import { kindAndName } from '../../core/columns/object-names.ts';
import { objectSummary } from '../../core/columns/summary-columns.ts';
import type { JsonObject } from '../../core/json.ts';
import {
  type GatewayFlags,
  type RunCommand,
  type SelectionFlags,
  selectionVariables,
  withGatewayOptions,
  withNamespaces,
} from '../arguments/gateway-options.ts';
import { ClusterFaultReport } from '../client/cluster-faults.ts';
import type { Session } from '../client/session.ts';
import { findNamedObjects } from '../lists/find-named.ts';
import { type ObjectTree, readTrees, type TreeItem, type TreeNode, treeFields, treeFragments } from '../lists/read-trees.ts';
import { stylesOf } from '../output/cell-style.ts';
import { type DocumentFormat, documentFormats, printAnswers } from '../output/print-answer.ts';
import { createTableColumns, type Paint, paintFor, textOfLines } from '../output/table.ts';

type TreeFlags = GatewayFlags & SelectionFlags & { readonly output?: DocumentFormat };

const help = `
Shows each object below its owners, and below it everything that it owns, in
each cluster. This reads every kind that can be listed, which takes a while if
the gateway has not read these kinds yet.
  muster tree deploy web -n shop
  muster tree cronjob/nightly -o json
Exits with 1 if a name is in no cluster, with 3 if an object was not found and a
cluster did not answer.`;

/** Adds `muster tree`: shows owners and owned objects in all clusters. */
export function addTreeCommand(program: Commander, run: RunCommand): void {
  withNamespaces(withGatewayOptions(program.command('tree')))
    .description('show the owners of objects and the objects they own, in all clusters')
    .argument('<object...>', 'KIND NAME, with further names, or KIND/NAME')
    .addOption(new Option('-o, --output <format>', 'for programs: owned objects nested in their owners').choices(documentFormats))
    .addHelpText('after', help)
    .action((words: readonly string[], flags: TreeFlags) => run(flags, (session) => showTrees(session, words, flags)));
}

/** Objects per page. Each object has its owners, which count against the limits of the gateway. */
const pageSize = 100;

const header = ['CLUSTER', 'NAMESPACE', 'NAME', 'READY', 'STATUS', 'AGE'];
const nameColumn = 2;

/**
 * Prints a tree for each named object: its owners above it, and the objects that it owns below it, in all clusters.
 *
 * @returns The exit code: 1 if an object is in no cluster, or a cluster of `--context` has a fault; 3 if an object was not found and a cluster did
 * not answer.
 * @throws {CommandFailure} if the words name no object, or no cluster serves a kind.
 */
async function showTrees(session: Session, words: readonly string[], { output, ...flags }: TreeFlags): Promise<number> {
  const { namespaces } = selectionVariables(flags);
  const report = new ClusterFaultReport(session);
  const select = async () => ({ fields: treeFields, fragments: treeFragments });
  const { found, exitCode } = await findNamedObjects<TreeItem>(session, { words, namespaces, report, select, pageSize });
  const trees = await readTrees(
    session,
    found.flatMap(({ items }) => items),
    report,
  );
  const nowMs = session.clock.now();
  const text =
    output === undefined
      ? tableOf(trees, { nowMs, paint: paintFor(session.terminal) })
      : printAnswers(
          trees.map((tree) => answerOf(tree, nowMs)),
          output,
        );
  await session.terminal.out(text);
  return exitCode || report.exitCode();
}

interface TextOptions {
  readonly nowMs: number;
  readonly paint: Paint;
}

interface Line {
  /** The lines of the tree that are drawn before the name, such as `└─`. */
  readonly drawn: string;
  readonly cells: readonly string[];
  readonly isNamed: boolean;
}

function tableOf(trees: readonly ObjectTree[], { nowMs, paint }: TextOptions): string {
  const lines = trees.flatMap((tree) => linesOf(tree, nowMs));
  // `printable` collapses spaces, so placeholder letters reserve the width of the branches.
  const rows = lines.map(({ drawn, cells }) =>
    cells.map((cell, column) => (column === nameColumn ? `${'-'.repeat(drawn.length)}${cell}` : cell)),
  );
  const style = stylesOf(header, rows, paint);
  const columns = createTableColumns(header).lines(rows, (text, at) => {
    const { drawn, isNamed } = lines[at.row] ?? { drawn: '', isNamed: false };
    if (at.column !== nameColumn || at.row === -1) return style(text, at);
    const name = text.slice(drawn.length);
    return `${drawn}${isNamed ? paint(1, name) : name}`;
  });
  return textOfLines(columns);
}

/**
 * Returns the lines of a tree, from the outermost owner down. Uses a stack instead of recursion, because chains of owners have no bound.
 */
function linesOf({ owners, missing, node }: ObjectTree, nowMs: number): readonly Line[] {
  const outermost = owners.at(-1) ?? node.item;
  const top = owners.reduce<TreeNode>((below, item) => ({ item, owned: [below], closesCircle: false }), node);
  const lines: Line[] = [];
  const waiting = [missing === undefined ? { node: top, drawn: '', lead: '' } : { node: top, drawn: '└─', lead: '  ' }];
  if (missing !== undefined) {
    const name = `${missing.kind?.toLowerCase()}/${missing.name} (not found, or not readable)`;
    lines.push({ drawn: '', isNamed: false, cells: [outermost.cluster.name, outermost.metadata.namespace ?? '', name, '', '', ''] });
  }
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { lead } = next;
    lines.push({ drawn: next.drawn, isNamed: next.node === node, cells: cellsOf(next.node, nowMs) });
    const owned = next.node.owned.map((one, at, all) =>
      at === all.length - 1 ? { node: one, drawn: `${lead}└─`, lead: `${lead}  ` } : { node: one, drawn: `${lead}├─`, lead: `${lead}│ ` },
    );
    waiting.push(...owned.toReversed());
  }
  return lines;
}

function cellsOf({ item, closesCircle }: TreeNode, nowMs: number): readonly string[] {
  const { ready, status, age } = objectSummary(item, { nowMs, isMixed: true });
  const name = `${kindAndName(item)}${closesCircle ? ' (circle of owners)' : ''}`;
  return [item.cluster.name, item.metadata.namespace ?? '', name, ready, status, age];
}

function answerOf({ owners, node }: ObjectTree, nowMs: number): JsonObject {
  return owners.reduce<JsonObject>((below, item) => ({ ...summaryAnswer(item, nowMs), owned: [below] }), nodeAnswer(node, nowMs));
}

function nodeAnswer({ item, owned, closesCircle }: TreeNode, nowMs: number): JsonObject {
  const circle = closesCircle ? { closesCircle } : {};
  return { ...summaryAnswer(item, nowMs), ...circle, owned: owned.map((one) => nodeAnswer(one, nowMs)) };
}

function summaryAnswer(item: TreeItem, nowMs: number): JsonObject {
  const { cluster, apiVersion, kind, metadata } = item;
  const { ready, status } = objectSummary(item, { nowMs, isMixed: true });
  return {
    cluster: cluster.name,
    apiVersion,
    kind,
    namespace: metadata.namespace ?? null,
    name: metadata.name,
    uid: metadata.uid ?? null,
    ready,
    status,
  };
}
