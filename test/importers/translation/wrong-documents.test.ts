import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { clusterName } from '../../../src/core/names.ts';
import { runAtOnce } from '../../../src/core/scheduling/operation-scheduler.ts';
import type { ImportContext } from '../../../src/importers/model/importer.ts';
import { importText } from '../../../src/importers/translation/import-documents.ts';
import { readYamlDocuments } from '../../../src/manifests/yaml-documents.ts';
import { documentOf } from '../../../src/propagate/model/input-spec.ts';
import type { PropagationInput } from '../../../src/propagate/model/propagations.ts';
import { parseSpec } from '../../../src/propagate/model/spec.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const folder = 'deploy/examples/import';
const examples = readdirSync(folder).map((file) => documentsIn(readFileSync(`${folder}/${file}`, 'utf8')));
const clusters = ['eu-prod', 'us-prod'].map((name) => ({ name: clusterName(name), labels: { tier: 'prod' } }));
const wrongValues: readonly Json[] = [
  ...[null, 0, -1, 1.5, '', 'x', '/', '*', true, 'é', 'a'.repeat(300), 'eu-prod'],
  ...[[], [null], {}, { a: null }, [{ name: 'eu-prod' }], { matchLabels: { 'a b': 'c' } }, { matchExpressions: [{ key: 'a' }] }],
];

function documentsIn(text: string): readonly Json[] {
  const read = readYamlDocuments(text);
  if (read.result === 'refused') throw new Error(read.message);
  return read.documents;
}

/** Returns the documents with up to 3 wrong, missing or repeated values. */
function damaged(documents: readonly Json[], random: () => number): Json[] {
  const copy = structuredClone(documents) as Json[];
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  for (let count = 1 + Math.floor(random() * 3); count > 0; count -= 1) {
    const places = placesIn(copy);
    const { parent, key } = pick(places);
    const chance = random();
    const other = pick(places);
    if (chance < 0.2 && !Array.isArray(parent)) delete parent[key];
    else parent[key] = structuredClone(chance < 0.4 ? (other.parent[other.key] ?? null) : pick(wrongValues));
  }
  return copy;
}

interface Place {
  readonly parent: Record<string, Json>;
  readonly key: string;
}

function placesIn(value: Json): readonly Place[] {
  if (value === null || typeof value !== 'object') return [];
  const parent = value as Record<string, Json>;
  return Object.keys(parent).flatMap((key) => [{ parent, key }, ...placesIn(parent[key] ?? null)]);
}

test.each([1, 2, 3, 4])('damaged documents are imported or explained, and every Propagation is valid (seed %i)', (seed) => {
  const random = seededRandom(seed);
  for (let round = 0; round < 100; round += 1) {
    const documents = examples.flatMap((example) => (random() < 0.5 ? damaged(example, random) : []));
    const context: ImportContext = { isExact: random() < 0.5, clusters, ...(random() < 0.5 ? { hub: 'eu-prod' } : {}) };
    const text = documents.map((document) => JSON.stringify(document)).join('\n---\n');
    const { propagations, unread, notes } = runAtOnce(importText(text, context));
    const named = [...propagations.flatMap((one) => one.documents), ...unread].map(({ index }) => index);
    const count = documentsIn(text).length;
    expect(
      [...new Set(named)].toSorted((a, b) => a - b),
      text,
    ).toEqual(Array.from({ length: count }, (_, index) => index));
    const explained = new Set(notes.map(({ path }) => Number(/^\[(\d+)\]/.exec(path ?? '')?.[1])));
    expect(
      unread.filter(({ index }) => !explained.has(index)),
      text,
    ).toEqual([]);
    for (const { input } of propagations) {
      const { problems, document } = documentOf(input as PropagationInput);
      expect([problems, 'problems' in parseSpec(document)], text).toEqual([[], false]);
    }
  }
});
