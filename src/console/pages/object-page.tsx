import { useRef } from 'preact/hooks';
import { itemFields } from '../../core/columns/printed-column.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { ChangeMessage } from '../../core/streams/streamed-objects.ts';
import { kindPath, type ObjectPageNames } from '../browser/paths.ts';
import { usePolled } from '../gateway/use-polled.ts';
import { EventsTab } from '../object/events-tab.tsx';
import { LogsTab } from '../object/logs-tab.tsx';
import { hasPods } from '../object/pod-selector.ts';
import { RelationsTab } from '../object/relations-tab.tsx';
import { YamlView } from '../object/yaml-view.tsx';
import { problemOfSync } from '../objects/answers.ts';
import { type KindSyncAnswer, kindSyncQuery, pathNameOfKind, type ShownKind } from '../objects/kind-names.ts';
import type { ObjectRow } from '../objects/table-of-kind.ts';
import { useLiveRows } from '../objects/use-live-rows.ts';
import { Alert } from '../parts/alert.tsx';
import { Heading } from '../parts/heading.tsx';
import { type Tab, Tabs } from '../parts/tabs.tsx';

interface WholeObject extends ObjectRow {
  readonly yaml: string;
}

type WholeMessage = ChangeMessage<WholeObject> & { readonly cursor: string };

const object = `id ${itemFields} yaml`;

const objectQuery = `subscription ($kinds: [String!]!, $clusters: [String!], $namespaces: [String!], $where: Where, $after: String) {
  resources(kinds: $kinds, clusters: $clusters, namespaces: $namespaces, where: $where, after: $after) {
    type cluster { name } kind { group kind } cursor fault { code message }
    added { ${object} } modified { ${object} } deleted { id }
  }
}`;

/** Shows one object, live: its YAML, its relations, its Events and its logs. */
export function ObjectPage(names: ObjectPageNames) {
  const { cluster, kind: kindName, namespace, name } = names;
  const { data, failure } = usePolled<KindSyncAnswer>({
    query: kindSyncQuery,
    variables: { kinds: [kindName], clusters: [cluster] },
    everyMs: 5_000,
  });
  const sync = data?.resources.sync[0];
  const live = useLiveRows<WholeObject, WholeMessage>({
    query: objectQuery,
    field: 'resources',
    variables: {
      kinds: [kindName],
      clusters: [cluster],
      namespaces: namespace === undefined ? undefined : [namespace],
      where: { path: 'metadata.name', eq: name },
    },
  });
  const [item] = live.items;
  const last = useRef<WholeObject>(undefined);
  last.current = item ?? last.current;
  const shown = last.current;
  const syncProblem = sync === undefined ? undefined : problemOfSync(sync);
  const isKnownAbsent = item === undefined && live.complete.has(cluster) && syncProblem === undefined;
  const place = namespace === undefined ? `in ${cluster}` : `in namespace ${namespace} of ${cluster}`;
  const problem = failure?.message ?? live.failure?.message;
  return (
    <>
      <Heading title={name} kicker={<ObjectKicker {...names} known={sync?.kind} />} />
      {problem === undefined ? null : <Alert>{problem}</Alert>}
      {syncProblem === undefined ? null : (
        <Alert>{`${cluster} ${syncProblem}. ${shown === undefined ? 'Whether the object exists is not known.' : 'This is its last known state.'}`}</Alert>
      )}
      {isKnownAbsent && shown !== undefined ? <Alert>{`${name} is gone. This is its last state.`}</Alert> : null}
      {isKnownAbsent && shown === undefined ? <Alert>{`There is no ${sync?.kind.kind ?? kindName} ${name} ${place}.`}</Alert> : null}
      {shown === undefined && !isKnownAbsent && problem === undefined && syncProblem === undefined ? (
        <p class="status-line">Loading</p>
      ) : null}
      {shown === undefined || sync === undefined ? null : (
        <Tabs label="About the object" tabs={tabsOf(shown, sync.kind, { ...names, isSilent: syncProblem !== undefined })} />
      )}
    </>
  );
}

function ObjectKicker({ cluster, kind, namespace, known }: ObjectPageNames & { readonly known: ShownKind | undefined }) {
  const name = known === undefined ? kind : pathNameOfKind(known);
  return (
    <>
      <a href="/objects">All kinds</a> / <a href={kindPath(name)}>{name}</a> / <a href={kindPath(name, { clusters: cluster })}>{cluster}</a>
      {namespace === undefined ? null : (
        <>
          {' / '}
          <a href={kindPath(name, { clusters: cluster, namespaces: namespace })}>{namespace}</a>
        </>
      )}
    </>
  );
}

function tabsOf(
  { id, yaml }: WholeObject,
  kind: ShownKind,
  { cluster, namespace, name, isSilent }: ObjectPageNames & { readonly isSilent: boolean },
): readonly Tab[] {
  const isPod = keyOfKind(kind) === 'Pod';
  const logs: Tab = {
    id: 'logs',
    title: 'Logs',
    content: () => <LogsTab id={id} cluster={cluster} namespace={namespace} name={name} isPod={isPod} />,
  };
  return [
    { id: 'yaml', title: 'YAML', content: () => <YamlView text={yaml} label={`YAML of ${name}`} /> },
    { id: 'relations', title: 'Relations', content: () => <RelationsTab id={id} kind={kind} /> },
    { id: 'events', title: 'Events', content: () => <EventsTab id={id} isSilent={isSilent} hasPods={hasPods(keyOfKind(kind))} /> },
    ...(isPod || hasPods(keyOfKind(kind)) ? [logs] : []),
  ];
}
