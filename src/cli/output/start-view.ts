import { type Paint, paddingOf, paintFor, printable } from './table.ts';
import { terminalWidth } from './text-width.ts';

/** How far one cluster has come while the gateway starts. */
export type StartProgress = { readonly cluster: string } & (
  | { readonly step: 'connecting' }
  /** First lists are under way. */
  | { readonly step: 'listing'; readonly version: string; readonly objects: number }
  /** `fault`: what is not as it ought to be all the same. */
  | {
      readonly step: 'synced';
      readonly version: string;
      readonly objects: number;
      readonly fault?: { readonly code: string; readonly message: string };
    }
  /** It goes on without this cluster: why, as its fault says. */
  | { readonly step: 'failed'; readonly code: string; readonly message: string }
  /** It is `same` by another name, and is read as that. */
  | { readonly step: 'duplicate'; readonly same: string }
);

export interface StartViewOptions {
  /** Takes whole lines. */
  readonly write: (line: string) => void;
  /** True: aligned and in color. False: plain lines. */
  readonly isTerminal: boolean;
}

/** What stands in the terminal once the gateway is ready. */
interface Banner {
  readonly url: string;
  /** It answers from the embedded fleet: nobody is to take it for his own clusters. */
  readonly demo: boolean;
  /** Queries worth pasting; empty for none. */
  readonly queries: readonly string[];
}

/** The terminal while the gateway starts: a line for each step of each cluster, then the address. Says nothing twice. */
export interface StartView {
  progressed(progress: StartProgress): void;
  ready(banner: Banner): void;
}

/** Makes the view of one start. */
export function createStartView({ write, isTerminal }: StartViewOptions): StartView {
  const told = new Map<string, string>();
  const paint = paintFor({ hasColor: isTerminal });
  let width = 0;
  return {
    progressed: (progress) => {
      // Counts that grow within a step are no news.
      if (told.get(progress.cluster) === progress.step) return;
      told.set(progress.cluster, progress.step);
      if (isTerminal) width = Math.max(width, terminalWidth(progress.cluster));
      const name = `${progress.cluster}${paddingOf(progress.cluster, width)}`;
      write(`${isTerminal ? '  ' : ''}${paint(1, name)}  ${describe(progress, paint)}\n`);
    },
    ready: ({ url, demo, queries }) => {
      if (demo) write(`\n${paint(7, ' DEMO ')} an embedded fleet: these clusters are not yours, and nothing here is real\n\n`);
      for (const query of queries) write(`${query.trim()}\n\n`);
      if (queries.length > 0) write('GraphiQL, with these and more, is this address in a browser:\n');
      write(`${paint(1, 'ready')} ${url}\n`);
    },
  };
}

function describe(progress: StartProgress, paint: Paint): string {
  switch (progress.step) {
    case 'connecting':
      return paint(90, 'connecting');
    case 'listing':
      return `listing${progress.objects > 0 ? `, ${counted(progress.objects)} so far` : ''} ${paint(90, `(${progress.version})`)}`;
    case 'synced':
      return `${paint(32, 'synced')}, ${counted(progress.objects)} ${paint(90, `(${progress.version})`)}${blemish(progress.fault, paint)}`;
    case 'failed':
      return `${paint(31, progress.code)} ${progress.message}`;
    case 'duplicate':
      return `${paint(33, 'DUPLICATE')} the same cluster as ${progress.same}: read once`;
    default:
      progress satisfies never;
      return '';
  }
}

function blemish(fault: { readonly code: string; readonly message: string } | undefined, paint: Paint): string {
  return fault === undefined ? '' : `; ${paint(33, fault.code)} ${fault.message}`;
}

function counted(objects: number): string {
  return `${objects.toLocaleString('en')} ${objects === 1 ? 'object' : 'objects'}`;
}

/** How far a start is, in one line: `starting: 2 of 3 clusters, waiting for south (connecting)`. */
export class StartLine {
  readonly #steps = new Map<string, StartProgress['step']>();

  /** The line after this. */
  progressed({ cluster, step }: StartProgress): string {
    if (step === 'duplicate') this.#steps.delete(cluster);
    else this.#steps.set(cluster, step);
    const waiting = [...this.#steps]
      .filter(([, its]) => its === 'connecting' || its === 'listing')
      .map(([name, its]) => `${name} (${its})`);
    const rest = waiting.length === 0 ? '' : `, waiting for ${waiting.join(', ')}`;
    return printable(`starting: ${this.#steps.size - waiting.length} of ${this.#steps.size} clusters${rest}`);
  }
}
