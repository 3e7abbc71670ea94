import type { MusterError } from '../../../src/core/errors.ts';
import { keyOfKind } from '../../../src/core/kinds.ts';
import type { ReadContext } from '../../../src/load/reads/reads.ts';
import type { ChangesMessage } from '../../../src/streams/messages/changes-message.ts';
import type { StreamReader, StreamSource } from '../../../src/streams/stream-source.ts';
import { idleContext } from './read-context.ts';

/** Makes the caller of a test of streams. */
export function callerNamed(key: string, signal: AbortSignal = new AbortController().signal): ReadContext {
  return idleContext({ caller: { key }, signal });
}

/** The objects that a client has after some messages, by source and key. It throws for messages that are not allowed. */
export interface Fold {
  /** Returns `namespace/name@version` of a source's objects, in order. */
  held(part: string): readonly string[];
  /** The sources that are complete and have not left. */
  whole(): readonly string[];
  /** The code of the source's last fault. Undefined if the source is in sync again. */
  fault(part: string): string | undefined;
  take(message: ChangesMessage): void;
  /** Returns an independent copy. */
  copy(): Fold;
  /** Returns a copy for a new stream. Earlier faults are void, because a new stream reports the faults that still hold. */
  resumed(): Fold;
}

interface Part {
  readonly objects: ReadonlyMap<string, string>;
  readonly whole: boolean;
  readonly fault: string | undefined;
}

const nothing: Part = { objects: new Map(), whole: false, fault: undefined };

/** Prints a source: `cluster Kind`. */
function partOf({ cluster, kind }: Pick<ChangesMessage, 'cluster' | 'kind'>): string {
  return `${cluster.name} ${keyOfKind(kind)}`;
}

/** Creates a client with these sources. */
export function createFold(parts: Map<string, Part> = new Map()): Fold {
  return {
    held: (part) => [...(parts.get(part)?.objects ?? [])].map(([place, version]) => `${place}@${version}`).sort(),
    whole: () => [...parts].filter(([, { whole }]) => whole).map(([part]) => part),
    fault: (part) => parts.get(part)?.fault,
    take(message) {
      const part = partOf(message);
      const next = after(parts.get(part) ?? nothing, message);
      if (next === undefined) parts.delete(part);
      else parts.set(part, next);
    },
    copy: () => createFold(new Map(parts)),
    resumed: () => createFold(new Map([...parts].map(([name, part]) => [name, { ...part, fault: undefined }]))),
  };
}

/** Returns the source after a message. Undefined after `GONE`, because the client then forgets the source. */
function after(part: Part, message: ChangesMessage): Part | undefined {
  const { type, fault } = message;
  const said = `${type} of ${partOf(message)}`;
  switch (type) {
    case 'RESET':
      refuse(part.objects.size + message.added.length + message.modified.length + message.deleted.length < 0, said);
      return { ...part, objects: new Map(), whole: false };
    case 'INITIAL':
      refuse(part.whole, `${said} after it was whole`);
      return { ...part, objects: change(part.objects, message, said) };
    case 'SYNCED':
      refuse(part.whole, `${said} twice`);
      return { ...part, whole: true, fault: undefined };
    case 'LIVE':
      refuse(!part.whole, `${said} before it was whole`);
      return { ...part, objects: change(part.objects, message, said), fault: undefined };
    case 'BOOKMARK':
      return part;
    case 'FAILED':
      refuse(fault === undefined, `${said} without a fault`);
      return fault?.code === 'GONE' ? undefined : { ...part, fault: fault?.code };
    default:
      return type satisfies never;
  }
}

function change(objects: ReadonlyMap<string, string>, message: ChangesMessage, said: string): ReadonlyMap<string, string> {
  const next = new Map(objects);
  const seen = new Set<string>();
  const place = ({ object: { metadata } }: ChangesMessage['added'][number]) => {
    const text = `${metadata.namespace ?? ''}/${metadata.name}`;
    refuse(seen.has(text), `${said} has ${text} twice`);
    seen.add(text);
    return text;
  };
  for (const row of message.added) {
    const at = place(row);
    refuse(next.has(at), `${said} adds ${at}, which was there`);
    next.set(at, row.object.metadata.resourceVersion ?? '');
  }
  for (const row of message.modified) {
    const at = place(row);
    refuse(!next.has(at), `${said} modifies ${at}, which was not there`);
    next.set(at, row.object.metadata.resourceVersion ?? '');
  }
  for (const row of message.deleted) refuse(!next.delete(place(row)), `${said} deletes what was not there`);
  return next;
}

function refuse(wrong: boolean, what: string): void {
  if (wrong) throw new Error(`a client of a stream was told: ${what}`);
}

/** A reader that takes all messages as soon as it is notified. */
export interface EagerReader<Message extends ChangesMessage> {
  readonly messages: readonly Message[];
  readonly fold: Fold;
  /** Returns the objects after the message with this index. A client that resumes from its cursor begins with them. */
  foldAt(index: number): Fold;
  readonly reader: StreamReader<Message>;
  /** Returns `TYPE cluster +added ~modified -deleted` of all messages, or of those from an index on. */
  lines(from?: number): readonly string[];
  /** The error that ended the stream. */
  readonly ended: MusterError | undefined;
}

/** Opens a stream and reads it eagerly. `from` has the objects that the client already has. */
export async function readEagerly<Message extends ChangesMessage>(
  source: StreamSource<Message>,
  { signal = new AbortController().signal, from = createFold() }: { readonly signal?: AbortSignal; readonly from?: Fold } = {},
): Promise<EagerReader<Message>> {
  const messages: Message[] = [];
  const fold = from.resumed();
  let ended: MusterError | undefined;
  const reader: StreamReader<Message> = await source.open(
    {
      ready() {
        for (let message = reader.take(); message !== undefined; message = reader.take()) {
          messages.push(message);
          fold.take(message);
        }
      },
      ended(reason) {
        ended = reason;
      },
    },
    signal,
  );
  return {
    messages,
    fold,
    foldAt(index) {
      const then = from.resumed();
      for (const message of messages.slice(0, index + 1)) then.take(message);
      return then;
    },
    reader,
    lines: (from = 0) => messages.slice(from).map(printMessage),
    get ended() {
      return ended;
    },
  };
}

/** Prints a message as one line, for comparisons. */
export function printMessage({ type, cluster, fault, added, modified, deleted }: ChangesMessage): string {
  const names = (sign: string, rows: ChangesMessage['added']) => rows.map(({ object }) => `${sign}${object.metadata.name}`);
  return [
    type,
    cluster.name,
    ...(fault === undefined ? [] : [fault.code]),
    ...names('+', added),
    ...names('~', modified),
    ...names('-', deleted),
  ].join(' ');
}

/** A reader that takes messages only when the test does. */
export interface HandReader<Message extends ChangesMessage> {
  readonly reader: StreamReader<Message>;
  /** Number of notifications. */
  readonly calls: number;
  readonly ended: MusterError | undefined;
  /** Takes all available messages, at most `most`. */
  take(most?: number): readonly Message[];
}

/** Opens a stream. The test takes its messages. */
export async function readByHand<Message extends ChangesMessage>(
  source: StreamSource<Message>,
  signal: AbortSignal = new AbortController().signal,
): Promise<HandReader<Message>> {
  let calls = 0;
  let ended: MusterError | undefined;
  const reader = await source.open(
    {
      ready() {
        calls += 1;
      },
      ended(reason) {
        ended = reason;
      },
    },
    signal,
  );
  return {
    reader,
    get calls() {
      return calls;
    },
    get ended() {
      return ended;
    },
    take(most = Number.POSITIVE_INFINITY) {
      const taken: Message[] = [];
      for (let message = reader.take(); message !== undefined; message = taken.length < most ? reader.take() : undefined)
        taken.push(message);
      return taken;
    },
  };
}
