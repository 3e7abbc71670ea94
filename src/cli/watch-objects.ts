import type { JsonObject } from '../core/json.ts';
import { ChangeLines, eventHeader } from './change-lines.ts';
import { type ClusterFault, faultFields } from './cluster-faults.ts';
import { follow } from './follow.ts';
import { tellLoss } from './follow-logs.ts';
import type { Change, ChangesOf, Foldable } from './held-objects.ts';
import { ageOf } from './human-duration.ts';
import { MessageLines } from './message-lines.ts';
import { kindAndName, type NamedObject } from './object-names.ts';
import type { Session } from './session.ts';

/** Which objects to watch, and how they are shown. */
export interface WatchedObjects {
  readonly kinds: readonly string[];
  /** `clusters`, `namespaces`, `labels`. */
  readonly selection: JsonObject;
  readonly output: 'json' | undefined;
}

interface WatchedObject extends NamedObject, Foldable {
  readonly cluster: { readonly name: string };
  readonly metadata: NamedObject['metadata'] & {
    readonly uid: string | null;
    readonly creationTimestamp: string | null;
    readonly resourceVersion: string | null;
  };
  readonly object?: JsonObject;
}

interface Message extends ChangesOf<Omit<WatchedObject, 'version'>> {
  readonly kind: { readonly group: string; readonly kind: string };
  readonly cursor: string;
  readonly fault: ClusterFault | null;
}

const queryOf = (extra: string) => {
  const object = `id apiVersion kind cluster { name } metadata { name namespace uid creationTimestamp resourceVersion } ${extra}`;
  return `subscription ($kinds: [String!]!, $clusters: [String!], $namespaces: [String!], $labels: String, $after: String) {
    resources(kinds: $kinds, clusters: $clusters, namespaces: $namespaces, labels: $labels, after: $after) {
      type cluster { name } kind { group kind } cursor fault { ${faultFields} }
      added { ${object} } modified { ${object} } deleted { ${object} }
    }
  }`;
};

/** Prints objects as they change, until the signal aborts. A stream that is lost goes on where it was. */
export async function watchObjects(session: Session, { kinds, selection, output }: WatchedObjects): Promise<number> {
  const { open, clock, signal, terminal, gateway } = session;
  let cursor: string | null = null;
  const variables = (how: 'first' | 'resumed' | 'anew') => ({ kinds, ...selection, after: how === 'anew' ? null : cursor });
  const query = queryOf(output === 'json' ? 'object' : '');
  const show = output === 'json' ? jsonLines(session) : changeLines(session, { isMixed: kinds.length > 1 });
  for await (const event of follow({ open, clock, query, variables, url: gateway.address.url }, signal)) {
    if (event.type === 'restarted') await show.restart();
    if (event.type !== 'message') {
      tellLoss(terminal, event);
      continue;
    }
    const message = (event.answer.data as { readonly resources: Message } | null | undefined)?.resources;
    if (message === undefined) continue;
    await show.take(message);
    cursor = message.cursor;
  }
  return 0;
}

interface Show {
  take(message: Message): Promise<void>;
  restart(): Promise<void>;
}

function changeLines(session: Session, { isMixed }: { readonly isMixed: boolean }): Show {
  const row = ({ type, item }: Change<WatchedObject>) => {
    const { cluster, metadata } = item;
    const name = isMixed ? kindAndName(item) : metadata.name;
    return [cluster.name, metadata.namespace ?? '', name, type, ageOf(metadata.creationTimestamp, session.clock.now())];
  };
  const lines = new ChangeLines<WatchedObject>(session, { header: ['CLUSTER', 'NAMESPACE', 'NAME', eventHeader, 'AGE'], row });
  return { take: (message) => lines.take(versioned(message)), restart: async () => lines.restart() };
}

/** Messages as they come, with whole objects in place of their selections. */
function jsonLines({ terminal }: Session): Show {
  const lines = new MessageLines((text) => terminal.out(text));
  const whole = (items: Message['added']) => items.map(({ object = {} }) => object);
  return {
    take: (message) =>
      lines.take({ ...message, added: whole(message.added), modified: whole(message.modified), deleted: whole(message.deleted) }),
    restart: () => lines.restart(),
  };
}

function versioned(message: Message): ChangesOf<WatchedObject> & Pick<Message, 'fault'> {
  const all = (items: Message['added']) =>
    items.map((item) => ({ ...item, version: `${item.metadata.uid} ${item.metadata.resourceVersion}` }));
  return { ...message, added: all(message.added), modified: all(message.modified), deleted: all(message.deleted) };
}
