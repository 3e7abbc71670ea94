import { boundedList } from '../../core/bounded-list.ts';
import { MusterError } from '../../core/errors.ts';
import { type LabelSelector, parseLabelSelector } from '../../core/selectors.ts';
import { type LogInstant, parseLogInstant } from './log-times.ts';
import type { LogExtent, LogSelection } from './logs.ts';

/** The checked selection of containers. Undefined fields select all. */
export interface CheckedSelection {
  readonly clusters: readonly string[] | undefined;
  readonly namespaces: readonly string[] | undefined;
  readonly selector: LabelSelector | undefined;
  readonly names: ReadonlySet<string> | undefined;
  readonly container: string | undefined;
}

/** The checked extent of each log. At most one of `since` and `sinceSeconds` is set. */
export interface CheckedExtent {
  readonly previous: boolean;
  readonly tailLines: number;
  readonly limitBytes: number;
  readonly sinceSeconds: number | undefined;
  /** The parsed `sinceTime`, and its text as the caller wrote it. Undefined: no limit. */
  readonly since: { readonly text: string; readonly instant: LogInstant } | undefined;
}

const maxTailLines = 10_000;
const maxLimitBytes = 10 * 1024 * 1024;
const defaultLimitBytes = 1024 * 1024;
/** Maximum of `sinceSeconds`, in seconds. API servers count nanoseconds in 64 bits, which overflow after 292 years. */
const maxSinceSeconds = 9_000_000_000;

/**
 * Checks the selection and parses its label selector.
 *
 * @throws {MusterError} `BAD_INPUT`. The message names the expected and the given value.
 */
export function checkSelection({ clusters, namespaces, labels, names, container }: LogSelection): CheckedSelection {
  return {
    clusters: boundedList('clusters', clusters) ?? undefined,
    namespaces: namespaces == null ? undefined : [...new Set(boundedList('namespaces', namespaces))].sort(),
    selector: labels == null ? undefined : parseLabelSelector(labels),
    names: names == null ? undefined : new Set(boundedList('names', names)),
    container: container ?? undefined,
  };
}

/**
 * Checks the extent and fills in the defaults, which undefined and null stand for.
 *
 * @param defaultTailLines Default for `tailLines`.
 * @throws {MusterError} `BAD_INPUT`. The message names the expected and the given value.
 */
export function checkExtent(extent: LogExtent, defaultTailLines: number): CheckedExtent {
  const { previous, sinceSeconds, sinceTime } = extent;
  if (sinceSeconds != null && sinceTime != null) throw new MusterError('BAD_INPUT', 'expected sinceSeconds or sinceTime, got both');
  return {
    previous: previous ?? false,
    tailLines: within('tailLines', extent.tailLines ?? defaultTailLines, [0, maxTailLines]),
    limitBytes: within('limitBytes', extent.limitBytes ?? defaultLimitBytes, [1, maxLimitBytes]),
    sinceSeconds: sinceSeconds == null ? undefined : within('sinceSeconds', sinceSeconds, [1, maxSinceSeconds]),
    since: sinceTime == null ? undefined : checkTime(sinceTime),
  };
}

function within(name: string, value: number, [min, max]: readonly [number, number]): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new MusterError('BAD_INPUT', `expected ${name} from ${min} to ${max}, got ${value}`);
}

function checkTime(text: string): { readonly text: string; readonly instant: LogInstant } {
  const instant = parseLogInstant(text);
  if (instant !== undefined) return { text, instant };
  throw new MusterError(
    'BAD_INPUT',
    `expected sinceTime as RFC 3339, such as 2026-01-31T12:00:00Z, got ${JSON.stringify(text.slice(0, 80))}`,
  );
}
