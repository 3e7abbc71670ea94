import { readFile } from 'node:fs/promises';
import type { ExampleQuery } from './http/graphiql.ts';

/** Files of `schema/examples` in the order in which GraphiQL opens them, with what stands in their variables. */
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

/** Worth pasting into a terminal: of the first ones, what fits there. */
const pasted: ReadonlySet<string> = new Set(['clusters', 'unhealthy', 'deployments']);

/** Operations that people want, as they are delivered. */
export interface Examples {
  /** What GraphiQL opens with: a tab each. */
  readonly all: readonly ExampleQuery[];
  /** The three that the terminal shows over the embedded fleet. */
  readonly pasted: readonly ExampleQuery[];
}

/** Reads `schema/examples`. Each begins with a comment that says what it answers: the first sentence is its title. */
export async function readExamples(): Promise<Examples> {
  const all = await Promise.all(files.map(readExample));
  return { all, pasted: all.filter((_, place) => pasted.has(files[place]?.[0] ?? '')) };
}

async function readExample([name, variables]: (typeof files)[number]): Promise<ExampleQuery> {
  const [query, values] = await Promise.all([textOf(`${name}.graphql`), variables === undefined ? undefined : textOf(variables)]);
  const [, title = name] = /^# (.+?)[.:](?:\s|$)/.exec(query) ?? [];
  return { title, query, ...(values === undefined ? {} : { variables: values.trimEnd() }) };
}

function textOf(file: string): Promise<string> {
  return readFile(new URL(`../../schema/examples/${file}`, import.meta.url), 'utf8');
}
