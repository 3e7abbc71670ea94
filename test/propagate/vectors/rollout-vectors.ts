import {
  type ClusterGroup,
  clusterStatus,
  type GroupedLine,
  type GroupKey,
  groupKeys,
  nextRollout,
  parseRolloutSize,
  parseTimeout,
  type RolloutStrategy,
  recheckAfterOf,
} from './ocm-rollout.ts';
import { type VectorOps, vectorOp } from './vector.ts';

/** A cluster as the files have it. */
interface Line {
  readonly cluster: string;
  readonly group: GroupKey;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly recheckTime?: string;
}

/** The settings of a strategy: `all`, `progressive` or `progressivePerGroup`. */
interface Settings {
  readonly minSuccessTime?: string;
  readonly progressDeadline?: string;
  readonly maxFailures?: number | string;
  readonly maxConcurrency?: number | string;
  readonly mandatoryDecisionGroups?: readonly Partial<GroupKey>[];
}

interface Strategy {
  readonly type: RolloutStrategy['type'];
  readonly all?: Settings;
  readonly progressive?: Settings;
  readonly progressivePerGroup?: Settings;
}

const phases: Readonly<Record<string, GroupedLine['phase']>> = {
  ToApply: 'toApply',
  Progressing: 'progressing',
  Succeeded: 'succeeded',
  Failed: 'failed',
  TimeOut: 'timedOut',
  Skip: 'skip',
};

function lineOf({ cluster, group, status, lastTransitionTime, recheckTime }: Line): GroupedLine {
  const ms = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time));
  return { cluster, group, phase: phases[status] ?? 'unknown', sinceMs: ms(lastTransitionTime), recheckMs: ms(recheckTime) };
}

function printLine({ cluster, group, phase, sinceMs, recheckMs }: GroupedLine) {
  const status = Object.keys(phases).find((name) => phases[name] === phase) ?? 'Unknown';
  const time = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString().replace('.000Z', 'Z'));
  return { cluster, group, status, lastTransitionTime: time(sinceMs), recheckTime: time(recheckMs) };
}

function strategyOf({ type, all, progressive, progressivePerGroup }: Strategy): RolloutStrategy {
  const settings = { All: all, Progressive: progressive, ProgressivePerGroup: progressivePerGroup }[type] ?? {};
  return {
    type,
    minSuccessMs: parseTimeout(settings.minSuccessTime ?? '0s') ?? 0,
    progressDeadline: settings.progressDeadline ?? '',
    maxFailures: settings.maxFailures ?? 0,
    maxConcurrency: settings.maxConcurrency ?? 0,
    mandatoryGroups: settings.mandatoryDecisionGroups ?? [],
  };
}

const seconds = (ms: number | undefined) => (ms === undefined ? null : ms / 1000);

/** Rollouts over many clusters as OCM paces them: each op with its function and how answers are compared. */
export const rolloutVectors: VectorOps = {
  'ocm-rollout': {
    rollout: vectorOp(
      (input: {
        readonly now: string;
        readonly strategy: Strategy;
        readonly groups: readonly ClusterGroup[];
        readonly existing: readonly Line[];
      }) => {
        const strategy = strategyOf(input.strategy);
        const existing = input.existing.map(lineOf);
        const { rollout, timedOut, removed, isBreached, recheckAfterMs } = nextRollout({
          strategy,
          groups: input.groups,
          existing,
          nowMs: Date.parse(input.now),
        });
        return {
          clustersToRollout: rollout.map(printLine),
          clustersTimeOut: timedOut.map(printLine),
          clustersRemoved: removed.map(printLine),
          maxFailureBreach: isBreached,
          recheckAfterSeconds: seconds(recheckAfterMs),
        };
      },
    ),
    clusterStatus: vectorOp(
      (input: {
        readonly now: string;
        readonly cluster: Line;
        readonly minSuccessSeconds: number;
        readonly timeoutSeconds: number | null;
      }) => {
        const deadlineMs = input.timeoutSeconds === null ? undefined : input.timeoutSeconds * 1000;
        const { list, line } = clusterStatus(lineOf(input.cluster), {
          soakMs: input.minSuccessSeconds * 1000,
          deadlineMs,
          nowMs: Date.parse(input.now),
        });
        return { rollout: list === 'rollout' ? [printLine(line)] : [], timeOut: list === 'timedOut' ? [printLine(line)] : [] };
      },
    ),
    rolloutSize: vectorOp((input: { readonly value: number | string; readonly total: number; readonly default: number }) => {
      const { size, problem } = parseRolloutSize(input.value, input.total, input.default);
      return { size, error: problem !== undefined };
    }),
    parseTimeout: vectorOp((input: { readonly text: string }) => ({ seconds: seconds(parseTimeout(input.text)) })),
    minRecheckAfter: vectorOp((input: { readonly now: string; readonly clusters: readonly Line[] }) => ({
      recheckAfterSeconds: seconds(recheckAfterOf(input.clusters.map(lineOf), Date.parse(input.now))),
    })),
    groupKeys: vectorOp((input: { readonly mandatoryDecisionGroups: readonly Partial<GroupKey>[] }) => ({
      keys: groupKeys(input.mandatoryDecisionGroups),
    })),
  },
};
