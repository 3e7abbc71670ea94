import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { changeQuery, query } from '../browser/location.ts';
import { followStream } from '../gateway/follow-stream.ts';
import { type RequestFailure, request } from '../gateway/graphql.ts';
import { Alert } from '../parts/alert.tsx';
import { LogLines, type LogMessage, type ShownLine } from './log-lines.ts';
import { podSelectorOf } from './pod-selector.ts';

export interface LogsTabProps {
  readonly id: string;
  readonly cluster: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly isPod: boolean;
}

interface PodChoice {
  readonly names?: readonly string[];
  readonly labels?: string;
}

interface LogState {
  readonly lines: readonly ShownLine[];
  readonly forgotten: number;
  readonly dropped: number;
  readonly faults: readonly string[];
  readonly failure: RequestFailure | undefined;
}

const logQuery = `subscription ($clusters: [String!], $namespaces: [String!], $names: [String!], $labels: String, $sinceTime: DateTime, $tailLines: Int) {
  podLogs(clusters: $clusters, namespaces: $namespaces, names: $names, labels: $labels, sinceTime: $sinceTime, tailLines: $tailLines) {
    type cluster { name } pod container dropped fault { code message } lines { time text }
  }
}`;

type PreviousLog = Omit<LogMessage, 'type' | 'dropped'>;

const previousQuery = `query ($clusters: [String!], $namespaces: [String!], $names: [String!], $labels: String, $tailLines: Int) {
  podLogs(clusters: $clusters, namespaces: $namespaces, names: $names, labels: $labels, tailLines: $tailLines, previous: true) {
    cluster { name } pod container fault { code message } lines { time text }
  }
}`;

/** Maximum number of older lines of each container that the tab begins with. */
const tailLines = 500;

/** Milliseconds between two renders of a busy log. */
const renderMs = 100;

/** Follows the logs of a Pod, or of the Pods that an object selects. */
export function LogsTab(of: LogsTabProps) {
  const [choice, setChoice] = useState<PodChoice | { readonly problem: string } | undefined>(of.isPod ? { names: [of.name] } : undefined);
  useEffect(() => {
    if (!of.isPod) findPods(of.id).then(setChoice, (error: Error) => setChoice({ problem: error.message }));
  }, [of.id]);
  if (choice === undefined) return <p class="status-line">Loading</p>;
  if ('problem' in choice) return <Alert>{choice.problem}</Alert>;
  const isPrevious = query.value.get('previous') === 'true';
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={isPrevious}
          onChange={() => changeQuery({ previous: isPrevious ? undefined : 'true' }, { isStep: true })}
        />
        Previous run of each container
      </label>
      {isPrevious ? <PreviousLogs of={of} choice={choice} /> : <FollowedLogs of={of} choice={choice} />}
    </>
  );
}

/** Returns the label selector of the Pods of an object, or a problem if the object selects no Pods. */
async function findPods(id: string): Promise<PodChoice | { readonly problem: string }> {
  const objectQuery = 'query ($id: ID!) { resource(id: $id) { object } }';
  const { resource } = await request<{ readonly resource: { readonly object: object } | null }>(objectQuery, { id });
  const labels = resource === null ? undefined : podSelectorOf(resource.object);
  return labels === undefined ? { problem: 'this object selects no Pods' } : { labels };
}

function FollowedLogs({ of, choice }: { readonly of: LogsTabProps; readonly choice: PodChoice }) {
  return <LogView name={of.name} empty="No lines yet. New ones appear here." {...useLogs(of, choice)} />;
}

/** Shows the logs of the runs before the current ones. They do not change, so they are read once. */
function PreviousLogs({ of, choice }: { readonly of: LogsTabProps; readonly choice: PodChoice }) {
  const { cluster, namespace, name } = of;
  const [state, setState] = useState<LogState | undefined>();
  useEffect(() => {
    const ending = new AbortController();
    const held = new LogLines();
    const show = (failure?: RequestFailure) => {
      const { lines, forgotten, dropped, faults } = held;
      if (!ending.signal.aborted) setState({ lines, forgotten, dropped, faults, failure });
    };
    request<{ readonly podLogs: readonly PreviousLog[] }>(previousQuery, { ...selectionOf(of, choice), tailLines }, ending.signal).then(
      ({ podLogs }) => {
        for (const log of podLogs) held.apply({ ...log, type: log.fault === null ? 'LINES' : 'FAILED', dropped: 0 });
        show();
      },
      (failure: RequestFailure) => show(failure),
    );
    return () => ending.abort();
  }, [cluster, namespace, JSON.stringify(choice)]);
  return state === undefined ? <p class="status-line">Loading</p> : <LogView name={name} empty="No lines." {...state} />;
}

interface LogViewProps extends LogState {
  readonly name: string;
  /** The text instead of lines. */
  readonly empty: string;
}

function LogView({ name, empty, lines, forgotten, dropped, faults, failure }: LogViewProps) {
  const sources = new Set(lines.map(sourceOf));
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  const onScroll = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = box.current ?? {};
    isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 20;
  };
  const lost = [
    ...(forgotten === 0 ? [] : [`${forgotten.toLocaleString('en')} earlier lines are not kept`]),
    ...(dropped === 0 ? [] : [`${dropped.toLocaleString('en')} lines were dropped, because they came too fast`]),
  ];
  return (
    <>
      {failure === undefined ? null : <Alert>{failure.message}</Alert>}
      {faults.length === 0 ? null : <Alert>{faults.join('\n')}</Alert>}
      {lost.length === 0 ? null : <p class="status-line">{lost.join('; ')}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region must be reached by keyboard */}
      <div role="log" aria-label={`Logs of ${name}`} class="log" tabIndex={0} ref={box} onScroll={onScroll}>
        {lines.length === 0 ? <p class="dim">{empty}</p> : null}
        {lines.map((line) => (
          <div key={line.at} class="log-line">
            {sources.size > 1 ? <span class="log-source">{sourceOf(line)} </span> : null}
            {line.text}
          </div>
        ))}
      </div>
    </>
  );
}

function sourceOf({ pod, container }: ShownLine): string {
  return `${pod}/${container}`;
}

function selectionOf({ cluster, namespace }: LogsTabProps, choice: PodChoice): object {
  return { clusters: [cluster], namespaces: namespace === undefined ? undefined : [namespace], ...choice };
}

function useLogs(of: LogsTabProps, choice: PodChoice): LogState {
  const { cluster, namespace } = of;
  const [state, setState] = useState<LogState>({ lines: [], forgotten: 0, dropped: 0, faults: [], failure: undefined });
  useEffect(() => {
    const ending = new AbortController();
    const held = new LogLines();
    let timer: number | undefined;
    const show = (failure?: RequestFailure) => {
      timer = undefined;
      const { lines, forgotten, dropped, faults } = held;
      if (!ending.signal.aborted) setState({ lines, forgotten, dropped, faults, failure });
    };
    const selection = selectionOf(of, choice);
    void followStream<LogMessage>(
      {
        query: logQuery,
        field: 'podLogs',
        variables: (how) => ({ ...selection, tailLines, ...(how === 'first' ? {} : { sinceTime: held.resume() }) }),
        onMessage: (message) => {
          held.apply(message);
          timer ??= window.setTimeout(() => show(), renderMs);
        },
        onFailure: show,
      },
      ending.signal,
    );
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [cluster, namespace, JSON.stringify(choice)]);
  return state;
}
