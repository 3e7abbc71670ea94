import { type Paint, paddingOf, paintFor, printable } from './table.ts';
import { terminalWidth } from './text-width.ts';

/** The progress of one cluster while the gateway starts. */
export type StartProgress = { readonly cluster: string } & (
  | { readonly step: 'connecting' }
  /** The first lists are running. */
  | { readonly step: 'listing'; readonly version: string; readonly objects: number }
  /** All mirrors are in sync. `fault` reports a remaining problem. */
  | {
      readonly step: 'synced';
      readonly version: string;
      readonly objects: number;
      readonly fault?: { readonly code: string; readonly message: string };
    }
  /** The gateway starts without this cluster. `code` and `message` are its fault. */
  | { readonly step: 'failed'; readonly code: string; readonly message: string }
  /** This name means the same cluster as the name `same`, so the cluster is read only once. */
  | { readonly step: 'duplicate'; readonly same: string }
);

export interface StartViewOptions {
  /** Writes one whole line. */
  readonly write: (line: string) => void;
  /** True: aligned and in color. False: plain lines. */
  readonly isTerminal: boolean;
}

/** The text that stays in the terminal once the gateway is ready. */
interface Banner {
  readonly url: string;
  /** True for the embedded fleet: users must not take it for their own clusters. */
  readonly demo: boolean;
  /** Example queries to print. Empty: none. */
  readonly queries: readonly string[];
}

/** Shows the start of a gateway: a line for each step of each cluster, then the address. Repeats no line. */
export interface StartView {
  progressed(progress: StartProgress): void;
  ready(banner: Banner): void;
}

/** Creates the view of one start. */
export function createStartView({ write, isTerminal }: StartViewOptions): StartView {
  const printed = new Map<string, string>();
  const paint = paintFor({ hasColor: isTerminal });
  let width = 0;
  return {
    progressed: (progress) => {
      // A growing count is not a new step.
      if (printed.get(progress.cluster) === progress.step) return;
      printed.set(progress.cluster, progress.step);
      if (isTerminal) width = Math.max(width, terminalWidth(progress.cluster));
      const name = `${progress.cluster}${paddingOf(progress.cluster, width)}`;
      write(`${isTerminal ? '  ' : ''}${paint(1, name)}  ${describe(progress, paint)}\n`);
    },
    ready: ({ url, demo, queries }) => {
      if (demo) write(`\n${paint(7, ' DEMO ')} an embedded fleet: these clusters are not yours, and nothing here is real\n\n`);
      for (const query of queries) write(`${query.trim()}\n\n`);
      if (queries.length > 0) write('Open this address in a browser for GraphiQL, with these queries and more:\n');
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
      return `${paint(32, 'synced')}, ${counted(progress.objects)} ${paint(90, `(${progress.version})`)}${faultText(progress.fault, paint)}`;
    case 'failed':
      return `${paint(31, progress.code)} ${progress.message}`;
    case 'duplicate':
      return `${paint(33, 'DUPLICATE')} the same cluster as ${progress.same}: read once`;
    default:
      progress satisfies never;
      return '';
  }
}

function faultText(fault: { readonly code: string; readonly message: string } | undefined, paint: Paint): string {
  return fault === undefined ? '' : `; ${paint(33, fault.code)} ${fault.message}`;
}

function counted(objects: number): string {
  return `${objects.toLocaleString('en')} ${objects === 1 ? 'object' : 'objects'}`;
}

/** Shows the start of a gateway in one line: `starting: 2 of 3 clusters, waiting for south (connecting)`. */
export class StartLine {
  readonly #steps = new Map<string, StartProgress['step']>();

  /** Records the progress of a cluster and returns the new line. */
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
