import type { JsonObject } from '../core/json.ts';
import type { FaultReport } from './cluster-faults.ts';
import { type FoundNames, nameCondition } from './found-names.ts';
import { jsonText } from './json-text.ts';
import { listedPages, type Selected } from './listed-pages.ts';
import { fullName, type NamedObject } from './object-names.ts';
import type { Session } from './session.ts';
import { printable } from './table.ts';
import type { ListTarget } from './words-of-objects.ts';

/** Formats for programs. */
export type ListFormat = 'json' | 'yaml' | 'name';

export interface ListedDocuments {
  readonly targets: readonly ListTarget[];
  readonly selected: Selected;
  readonly report: FaultReport;
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
 * Prints objects of some kinds page by page as they come, so that any number of them takes little memory; those of several kinds one kind after the
 * other, as kubectl does, unless they are sorted otherwise.
 *
 * @returns True if there was an object.
 * @throws {CommandFailure} if no cluster serves any of the kinds.
 */
export async function listDocuments(session: Session, asked: ListedDocuments): Promise<boolean> {
  const { report, output } = asked;
  const fields = `apiVersion kind cluster { name } metadata { name namespace } ${output === 'name' ? '' : output === 'json' ? 'object' : 'yaml'}`;
  let isFound = false;
  const sink = sinkFor(output, (text) => session.terminal.out(text));
  for (const { names, ...listing } of listingsOf(asked)) {
    for await (const items of listedPages<ListedObject>(session, { ...listing, fields, report })) {
      isFound ||= items.length > 0;
      for (const { metadata } of items) names.add(metadata.name);
      await sink.take(items);
    }
  }
  await sink.end();
  return isFound;
}

/** The lists to print: one for each target with names, else one for all kinds. */
function listingsOf({ targets, selected, found }: ListedDocuments) {
  if (targets.some(({ names }) => names !== undefined))
    return targets.map((target) => ({
      kinds: [target.kind],
      selected: { ...selected, where: nameCondition(target) },
      ...found.of(target),
    }));
  const kinds = targets.map(({ kind }) => kind);
  const orderBy = selected.orderBy ?? (kinds.length > 1 ? [{ path: 'kind' }] : null);
  return [{ kinds, selected: { ...selected, orderBy }, names: new Set<string>(), answers: found.answers }];
}

/** Takes objects page by page. */
interface Sink {
  take(items: readonly ListedObject[]): Promise<void>;
  end(): Promise<void>;
}

type Write = (text: string) => Promise<void>;

function sinkFor(output: ListFormat, write: Write): Sink {
  switch (output) {
    case 'json':
      return jsonSink(write);
    case 'yaml':
      return yamlSink(write);
    case 'name':
      return {
        take: (items) => write(items.map((item) => `${fullName(item.cluster.name, item)}\n`).join('')),
        end: async () => undefined,
      };
    default:
      throw output satisfies never;
  }
}

/** A List, object by object, each with its cluster as an annotation: so it is still what kubectl reads. */
function jsonSink(write: Write): Sink {
  let isFirst = true;
  return {
    take: async (items) => {
      for (const { object = {}, cluster } of items) {
        const text = jsonText(withCluster(object, cluster.name), 4).replaceAll('\n', '\n        ');
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
