import { humanDuration } from '../../core/columns/kubectl-text.ts';
import { countedText } from '../parts/texts.ts';

/** Whether one cluster answers. */
export interface ClusterAnswer {
  readonly cluster: string;
  /** True if everything that the cluster has is shown. */
  readonly isComplete: boolean;
  /** Why the cluster does not answer. Undefined if it does, or is still sending its first objects. */
  readonly problem: string | undefined;
}

export interface CountedObjects {
  readonly count: number;
  /** The number of rows in the table. It is smaller than `count` if there are more than 20,000 objects. */
  readonly shown: number;
  readonly one: string;
  readonly many: string;
  /** One entry for each cluster that serves the kind. Undefined if the clusters are not known yet. */
  readonly answers: readonly ClusterAnswer[] | undefined;
  /** True if the page has a filter. Default: false. */
  readonly isFiltered?: boolean;
}

/**
 * Returns the sentence above a table, such as `9 pods; south does not answer (UNREACHABLE, last seen 12s ago)`. Says `No pods` only if every cluster
 * has answered.
 */
export function countSentence({ count, shown, one, many, answers, isFiltered = false }: CountedObjects): string {
  if (answers?.length === 0) return `No ${many}: no cluster serves them`;
  const silent = (answers ?? []).filter(({ problem }) => problem !== undefined).map(({ cluster, problem }) => `${cluster} ${problem}`);
  const isLoading = answers === undefined || answers.some(({ isComplete, problem }) => !isComplete && problem === undefined);
  const limited = shown < count ? [`the first ${shown.toLocaleString('en')} are shown`] : [];
  return [counted({ count, one, many, isLoading, isSilent: silent.length > 0, isFiltered }), ...limited, ...silent].join('; ');
}

function counted({
  count,
  one,
  many,
  isLoading,
  isSilent,
  isFiltered,
}: {
  count: number;
  one: string;
  many: string;
  isLoading: boolean;
  isSilent: boolean;
  isFiltered: boolean;
}): string {
  if (isLoading) return count === 0 ? 'Loading' : `${countedText(count, one, many)} so far`;
  if (count > 0) return countedText(count, one, many);
  if (isSilent) return `${countedText(0, one, many)} in the clusters that answer`;
  return isFiltered ? `No ${many} match the filters` : `No ${many}`;
}

/** True if a cluster does not answer. */
export function isPartial(answers: readonly ClusterAnswer[] = []): boolean {
  return answers.some(({ problem }) => problem !== undefined);
}

/** How current the objects of one kind in one cluster are. */
export interface AnsweredSync {
  readonly phase: string;
  readonly ageSeconds: number | null;
  readonly fault: { readonly code: string; readonly message: string } | null;
}

/** Returns `does not answer (UNREACHABLE, last seen 12s ago)`. Undefined if the objects are in sync, or are being listed for the first time. */
export function problemOfSync({ phase, ageSeconds, fault }: AnsweredSync): string | undefined {
  if (phase === 'SYNCED' || (phase === 'SYNCING' && (fault === null || fault.code === 'SYNCING'))) return undefined;
  const seen = ageSeconds === null ? 'never seen' : `last seen ${humanDuration(ageSeconds * 1_000)} ago`;
  return `does not answer (${[fault?.code ?? phase, seen].join(', ')})`;
}
