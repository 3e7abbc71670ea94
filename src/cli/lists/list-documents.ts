import type { JsonObject } from '../../core/json.ts';
import type { ListTarget } from '../arguments/object-words.ts';
import type { ClusterFaultReport } from '../client/cluster-faults.ts';
import { listPages, type ObjectSelection } from '../client/list-pages.ts';
import { fullObjectName, type NamedObject } from '../client/object-names.ts';
import type { Session } from '../client/session.ts';
import { jsonText } from '../output/json-text.ts';
import { printable } from '../output/table.ts';
import { type FoundNames, nameCondition } from './find-named.ts';

type ListFormat = 'json' | 'yaml' | 'name';

export interface ListDocumentsOptions {
  readonly targets: readonly ListTarget[];
  readonly selected: ObjectSelection;
  readonly report: ClusterFaultReport;
  /** Collects the found names of the targets, and which clusters have answered. */
  readonly found: FoundNames;
  readonly output: ListFormat;
}

interface ListedObject extends NamedObject {
  readonly cluster: { readonly name: string };
  readonly object?: JsonObject;
  readonly yaml?: string;
}

/**
 * Prints objects page by page, so that memory stays small for any number of objects.
 *
 * Several kinds are printed one after the other, as in kubectl, unless `selected` has an order of its own.
 *
 * @returns True if there was an object.
 * @throws {CommandFailure} if no cluster serves any of the kinds.
 */
export async function listDocuments(session: Session, options: ListDocumentsOptions): Promise<boolean> {
  const { report, output } = options;
  const fields = `apiVersion kind cluster { name } metadata { name namespace } ${output === 'name' ? '' : output === 'json' ? 'object' : 'yaml'}`;
  let isFound = false;
  const { start, text, between, end, empty } = streams[output];
  for (const { names, ...listing } of listingsOf(options)) {
    for await (const items of listPages<ListedObject>(session, { ...listing, fields, report })) {
      for (const { metadata } of items) names.add(metadata.name);
      if (items.length > 0) await session.terminal.out(`${isFound ? between : start}${items.map(text).join(between)}`);
      isFound ||= items.length > 0;
    }
  }
  await session.terminal.out(isFound ? end : empty);
  return isFound;
}

/** Returns the lists to print: one for each target with names, else one list for all kinds. */
function listingsOf({ targets, selected, found }: ListDocumentsOptions) {
  if (targets.some(({ names }) => names !== undefined))
    return targets.map((target) => ({
      kinds: [target.kind],
      selected: { ...selected, where: nameCondition(target) },
      ...found.forTarget(target),
    }));
  const kinds = targets.map(({ kind }) => kind);
  const orderBy = selected.orderBy ?? (kinds.length > 1 ? [{ path: 'kind' }] : null);
  return [{ kinds, selected: { ...selected, orderBy }, names: new Set<string>(), answers: found.answers }];
}

/** The texts that are printed around and between objects. */
interface DocumentStream {
  /** Before the first object. */
  readonly start: string;
  readonly text: (item: ListedObject) => string;
  readonly between: string;
  /** After the last object. */
  readonly end: string;
  /** The whole output if there is no object. */
  readonly empty: string;
}

const listStart = '{\n    "apiVersion": "v1",\n    "items": [';
const listEnd = '],\n    "kind": "List",\n    "metadata": {}\n}\n';

const streams: Readonly<Record<ListFormat, DocumentStream>> = {
  // A Kubernetes List, so kubectl can read it. An annotation of each object names its cluster.
  json: {
    start: `${listStart}\n`,
    text: ({ object = {}, cluster }) => `        ${jsonText(withCluster(object, cluster.name), 4).replaceAll('\n', '\n        ')}`,
    between: ',\n',
    end: `\n    ${listEnd}`,
    empty: `${listStart}${listEnd}`,
  },
  yaml: {
    start: '',
    text: ({ yaml = '', cluster }) => `# cluster: ${printable(cluster.name)}\n${yaml}`,
    between: '---\n',
    end: '',
    empty: '',
  },
  name: { start: '', text: (item) => `${fullObjectName(item.cluster.name, item)}\n`, between: '', end: '', empty: '' },
};

function withCluster(object: JsonObject, cluster: string): JsonObject {
  const metadata = (object.metadata ?? {}) as JsonObject;
  const annotations = (metadata.annotations ?? {}) as JsonObject;
  return { ...object, metadata: { ...metadata, annotations: { ...annotations, 'muster.dev/cluster': cluster } } };
}
