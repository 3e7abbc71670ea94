import { fullObjectName, type NamedObject } from '../../core/columns/object-names.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ListOutput } from '../arguments/list-output.ts';
import type { ListTarget } from '../arguments/object-words.ts';
import type { ClusterFaultReport } from '../client/cluster-faults.ts';
import { listPages, type ObjectSelection } from '../client/list-pages.ts';
import type { Session } from '../client/session.ts';
import { jsonText } from '../output/json-text.ts';
import { printable } from '../output/table.ts';
import { type FoundNames, nameCondition } from './find-named.ts';
import { customColumnsText, jsonPathText } from './template-text.ts';

type ListFormat = 'json' | 'yaml' | 'name';

/** The formats that `listDocuments` prints. */
type DocumentOutput = { readonly type: ListFormat } | TemplateOutput;

type TemplateOutput = Extract<ListOutput, { type: 'jsonpath' | 'custom-columns' }>;

export interface ListDocumentsOptions {
  readonly targets: readonly ListTarget[];
  readonly selected: ObjectSelection;
  readonly report: ClusterFaultReport;
  /** Collects the found names of the targets, and which clusters have answered. */
  readonly found: FoundNames;
  readonly output: DocumentOutput;
  /** True if the words can mean one object only. Then that object is printed, and no List around it. */
  readonly isSingle: boolean;
  /** True: in a jsonpath template, a field that an object does not have prints nothing. False: the command fails. */
  readonly allowsMissingKeys: boolean;
  readonly hasHeaders: boolean;
}

interface ListedObject extends NamedObject {
  readonly cluster: { readonly name: string };
  readonly object?: JsonObject;
  readonly yaml?: string;
}

/**
 * Prints objects page by page, so that memory stays small for any number of objects. For templates and custom columns, reads all objects first.
 *
 * Prints all objects of one kind, then those of the next one, as kubectl does. With an order in `selected`, that order decides.
 *
 * @returns True if there was an object.
 * @throws {CommandFailure} if no cluster serves any of the kinds, or a template cannot be applied.
 */
export async function listDocuments(session: Session, options: ListDocumentsOptions): Promise<boolean> {
  const { output, isSingle } = options;
  if (output.type === 'jsonpath' || output.type === 'custom-columns') return listTemplates(session, options, output);
  const fields = output.type === 'name' ? '' : output.type === 'json' ? 'object' : 'yaml';
  let isFound = false;
  const { start, text, between, end, empty } = output.type === 'json' && isSingle ? singleObject : streams[output.type];
  for await (const items of pagesOf(session, options, fields)) {
    if (items.length > 0) await session.terminal.out(`${isFound ? between : start}${items.map(text).join(between)}`);
    isFound ||= items.length > 0;
  }
  // A single object that was not found prints nothing, as in kubectl.
  await session.terminal.out(isFound ? end : isSingle ? '' : empty);
  return isFound;
}

/** Yields the pages of all lists to print, and adds the names of their objects to `found`. */
async function* pagesOf(session: Session, options: ListDocumentsOptions, fields: string): AsyncIterable<readonly ListedObject[]> {
  const selection = `apiVersion kind cluster { name } metadata { name namespace } ${fields}`;
  for (const { names, ...listing } of listingsOf(options)) {
    for await (const items of listPages<ListedObject>(session, { ...listing, fields: selection, report: options.report })) {
      for (const { metadata } of items) names.add(metadata.name);
      yield items;
    }
  }
}

/** Reads all objects, then prints the results of the templates. Returns true if there was an object. */
async function listTemplates(session: Session, options: ListDocumentsOptions, output: TemplateOutput): Promise<boolean> {
  const place = output.type === 'jsonpath' ? '' : 'cluster { name region provider version labels }';
  const items: ListedObject[] = [];
  for await (const page of pagesOf(session, options, `object ${place}`)) items.push(...page);
  if (output.type === 'custom-columns') {
    const objects = items.map(({ object = {}, cluster }) => ({ ...object, cluster }));
    await session.terminal.out(customColumnsText(output.columns, objects, options));
    return items.length > 0;
  }
  const objects = items.map(({ object = {}, cluster }) => withClusterAnnotation(object, cluster.name));
  const [only] = objects;
  if (options.isSingle && only === undefined) return false;
  const printed = options.isSingle && only !== undefined ? only : { apiVersion: 'v1', items: objects, kind: 'List', metadata: {} };
  await session.terminal.out(jsonPathText(output.template, printed, options));
  return items.length > 0;
}

/** Returns the requests to send. If targets name objects: one for each target. Otherwise one for all kinds together. */
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

/** One object as `-o json` prints it, without a List around it. */
const singleObject: DocumentStream = {
  start: '',
  text: ({ object = {}, cluster }) => jsonText(withClusterAnnotation(object, cluster.name), 4),
  between: '\n',
  end: '\n',
  empty: '',
};

const listStart = '{\n    "apiVersion": "v1",\n    "items": [';
const listEnd = '],\n    "kind": "List",\n    "metadata": {}\n}\n';

const streams: Readonly<Record<ListFormat, DocumentStream>> = {
  // A Kubernetes List, so kubectl can read it. An annotation of each object names its cluster.
  json: {
    start: `${listStart}\n`,
    text: ({ object = {}, cluster }) =>
      `        ${jsonText(withClusterAnnotation(object, cluster.name), 4).replaceAll('\n', '\n        ')}`,
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

/** Returns the object with the name of its cluster in the annotation `muster.dev/cluster`. */
export function withClusterAnnotation(object: JsonObject, cluster: string): JsonObject {
  const metadata = (object.metadata ?? {}) as JsonObject;
  const annotations = (metadata.annotations ?? {}) as JsonObject;
  return { ...object, metadata: { ...metadata, annotations: { ...annotations, 'muster.dev/cluster': cluster } } };
}
