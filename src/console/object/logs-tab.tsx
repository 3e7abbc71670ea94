import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { followStream } from '../gateway/follow-stream.ts';
import { type RequestFailure, request } from '../gateway/graphql.ts';
import { Alert } from '../parts/alert.tsx';
import { LogLines, type LogMessage, type ShownLine } from './log-lines.ts';
import { podSelectorOf } from './pod-selector.ts';

export interface LogsOf {
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

/** Maximum number of older lines of each container that the tab begins with. */
const tailLines = 500;

/** Milliseconds between two renders of a busy log. */
const renderMs = 100;

/** Follows the logs of a Pod, or of the Pods that an object selects. */
export function LogsTab(of: LogsOf) {
  const [choice, setChoice] = useState<PodChoice | { readonly problem: string } | undefined>(of.isPod ? { names: [of.name] } : undefined);
  useEffect(() => {
    if (!of.isPod) findPods(of.id).then(setChoice, (error: Error) => setChoice({ problem: error.message }));
  }, [of.id]);
  if (choice === undefined) return <p class="status-line">Loading</p>;
  if ('problem' in choice) return <Alert>{choice.problem}</Alert>;
  return <FollowedLogs of={of} choice={choice} />;
}

/** Returns the label selector of the Pods of an object, or a problem if the object selects no Pods. */
async function findPods(id: string): Promise<PodChoice | { readonly problem: string }> {
  const query = 'query ($id: ID!) { resource(id: $id) { object } }';
  const { resource } = await request<{ readonly resource: { readonly object: object } | null }>(query, { id });
  const labels = resource === null ? undefined : podSelectorOf(resource.object);
  return labels === undefined ? { problem: 'this object selects no Pods' } : { labels };
}

function FollowedLogs({ of, choice }: { readonly of: LogsOf; readonly choice: PodChoice }) {
  const { lines, forgotten, dropped, faults, failure } = useLogs(of, choice);
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
      <div role="log" aria-label={`Logs of ${of.name}`} class="log" tabIndex={0} ref={box} onScroll={onScroll}>
        {lines.length === 0 ? <p class="dim">No lines yet. New ones appear here.</p> : null}
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

function useLogs({ cluster, namespace }: LogsOf, choice: PodChoice): LogState {
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
    const selection = { clusters: [cluster], namespaces: namespace === undefined ? undefined : [namespace], ...choice };
    void followStream<LogMessage>(
      {
        query: logQuery,
        field: 'podLogs',
        variables: (how) => ({ ...selection, tailLines, ...(how === 'first' ? {} : { sinceTime: held.resume() }) }),
        onMessage: (message) => {
          held.apply(message);
          timer ??= window.setTimeout(() => show(), renderMs);
        },
        onRefused: show,
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
