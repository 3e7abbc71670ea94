import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

// Rules of the layout that neither TypeScript nor Biome checks. The table of allowed imports is in architecture.test.ts.

const maxFiles = 25;
const repository = path.resolve('.');
const sources = filesBelow('src').filter((file) => /\.tsx?$/.test(file));

test(`a folder of src or test holds at most ${maxFiles} files`, () => {
  const sizes = Map.groupBy([...sources, ...filesBelow('test')], (file) => path.dirname(file));
  expect([...sizes].filter(([, files]) => files.length > maxFiles).map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([]);
});

test('an exported name is unique in src', () => {
  const owners = Map.groupBy(sources.flatMap(exportsOf), ({ name }) => name);
  const doubles = [...owners].filter(([, exported]) => new Set(exported.map(({ file }) => file)).size > 1);
  expect(doubles.map(([name, exported]) => `${name}: ${exported.map(({ file }) => file).join(', ')}`)).toEqual([]);
  expect(owners.size).toBeGreaterThan(1000);
});

test('folders do not import each other in a circle', () => {
  const imported = new Map(foldersOf(sources).map((folder) => [folder, new Set<string>()]));
  for (const file of sources) for (const target of importsOf(file)) imported.get(path.dirname(file))?.add(path.dirname(target));
  expect(circlesIn(imported)).toEqual([]);
  expect([...imported.values()].reduce((sum, targets) => sum + targets.size, 0)).toBeGreaterThan(imported.size);
});

test('finds a circle of folders', () => {
  expect(
    circlesIn(
      new Map([
        ['a', new Set(['b'])],
        ['b', new Set(['c', 'b'])],
        ['c', new Set(['a'])],
        ['d', new Set(['a'])],
      ]),
    ),
  ).toEqual([['a', 'b', 'c']]);
});

/** The folders that can be reached from each other, each group sorted by name. A folder that imports itself is no circle. */
function circlesIn(imported: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const reached = new Map([...imported.keys()].map((folder) => [folder, reachableFrom(folder, imported)]));
  const inCircle = [...imported.keys()].filter((folder) => reached.get(folder)?.has(folder)).sort();
  const groups = Map.groupBy(inCircle, (folder) =>
    inCircle.find((other) => reached.get(other)?.has(folder) && reached.get(folder)?.has(other)),
  );
  return [...groups.values()];
}

/** Every folder at the end of at least one import from another folder. */
function reachableFrom(start: string, imported: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [start];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const target of imported.get(folder) ?? []) {
      if (target === folder || reached.has(target)) continue;
      reached.add(target);
      waiting.push(target);
    }
  }
  return reached;
}

function foldersOf(files: readonly string[]): readonly string[] {
  return [...new Set(files.map((file) => path.dirname(file)))];
}

/** The names of top-level declarations that a file exports. */
function exportsOf(file: string): { readonly name: string; readonly file: string }[] {
  const declaration =
    /^export (?:default )?(?:abstract )?(?:async )?(?:declare )?(?:const|let|function\*?|class|interface|type) (?<name>[\w$]+)/gm;
  return [...readFileSync(file, 'utf8').matchAll(declaration)].map(({ groups }) => ({ name: groups?.name ?? '', file }));
}

/** The files of this repository that a file imports, types included. */
function importsOf(file: string): readonly string[] {
  const specifier = /(?:\bfrom|\bimport\()\s*'(?<target>\.[^']+)'/g;
  return [...readFileSync(file, 'utf8').matchAll(specifier)].map(({ groups }) => path.join(path.dirname(file), groups?.target ?? ''));
}

/** Paths from the root of the repository. */
function filesBelow(folder: string): readonly string[] {
  return readdirSync(path.join(repository, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(repository, path.join(entry.parentPath, entry.name)));
}
