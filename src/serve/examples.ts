import { readFile } from 'node:fs/promises';
import type { ExampleQuery } from './http/graphiql.ts';

/** Files of `schema/examples`, in the order in which GraphiQL opens them. The second entry is the file with their variables. */
const files: readonly (readonly [name: string, variables?: string])[] = [
  ['clusters'],
  ['unhealthy'],
  ['deployments'],
  ['deployment-tree'],
  ['rollouts'],
  ['images'],
  ['capacity'],
  ['requested'],
  ['node-pods'],
  ['jobs-live'],
  ['pods-live'],
  ['plan', 'intent.json'],
  ['propagate', 'intent.json'],
  ['progress'],
  ['pending'],
  ['restarts'],
  ['failed-jobs'],
  ['warnings'],
  ['events'],
  ['logs'],
  ['services'],
  ['config-map-users'],
  ['claims'],
  ['kubelets'],
  ['custom-kinds'],
  ['search'],
  ['kinds'],
];

/** Examples that the terminal shows, because they are short enough to paste. */
const shownInTerminal: ReadonlySet<string> = new Set(['clusters', 'unhealthy', 'deployments']);

/** The example operations that come with Muster. */
export interface Examples {
  /** All examples. GraphiQL opens each in a tab. */
  readonly all: readonly ExampleQuery[];
  /** The three examples that the terminal shows for the embedded fleet. */
  readonly forTerminal: readonly ExampleQuery[];
}

/** Reads `schema/examples`. Each file begins with a comment. Its first sentence is the title of the example. */
export async function readExamples(): Promise<Examples> {
  const all = await Promise.all(files.map(readExample));
  return { all, forTerminal: all.filter((_, index) => shownInTerminal.has(files[index]?.[0] ?? '')) };
}

async function readExample([name, variables]: (typeof files)[number]): Promise<ExampleQuery> {
  const [query, values] = await Promise.all([textOf(`${name}.graphql`), variables === undefined ? undefined : textOf(variables)]);
  const [, title = name] = /^# (.+?)[.:](?:\s|$)/.exec(query) ?? [];
  return { title, query, ...(values === undefined ? {} : { variables: values.trimEnd() }) };
}

function textOf(file: string): Promise<string> {
  return readFile(new URL(`../../schema/examples/${file}`, import.meta.url), 'utf8');
}
