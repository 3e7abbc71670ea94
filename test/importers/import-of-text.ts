import { isJsonObject, type JsonObject } from '../../src/core/json.ts';
import { clusterName } from '../../src/core/names.ts';
import { runAtOnce } from '../../src/core/scheduling/operation-scheduler.ts';
import type { ImportedPropagation, ImportNote, ImportResult } from '../../src/importers/model/import-result.ts';
import type { ImportContext } from '../../src/importers/model/importer.ts';
import { importText } from '../../src/importers/translation/import-documents.ts';

interface TextImport extends Partial<Omit<ImportContext, 'clusters'>> {
  /** The names of the clusters of the fleet. They have no labels. */
  readonly clusters: readonly string[];
}

/** Imports documents of a text, in default mode. */
export function importedTexts(texts: readonly string[], { clusters, ...context }: TextImport): ImportResult {
  const fleet = clusters.map((name) => ({ name: clusterName(name), labels: {} }));
  return runAtOnce(importText(texts.join('---\n'), { isExact: false, ...context, clusters: fleet }));
}

/** Returns one Propagation of a result. Throws if the result does not have it. */
export function imports({ propagations, notes }: ImportResult, index: number): ImportedPropagation {
  const found = propagations[index];
  if (found === undefined) throw new Error(`expected a Propagation ${index}, got ${propagations.length}, ${JSON.stringify(notes)}`);
  return found;
}

/** Returns the fields of the input of one Propagation. Throws if the result does not have it. */
export function specOf(result: ImportResult, index: number): JsonObject {
  const { input } = imports(result, index);
  return isJsonObject(input) ? input : {};
}

export function codesOf(notes: readonly ImportNote[]): readonly string[] {
  return notes.map(({ code }) => code);
}
