import type { MusterError } from '../../../src/core/errors.ts';
import { keyOfKind } from '../../../src/core/kinds.ts';
import type { ReadContext } from '../../../src/load/reads/reads.ts';
import type { ChangesMessage } from '../../../src/streams/messages/changes-message.ts';
import type { StreamReader, StreamSource } from '../../../src/streams/stream-source.ts';
import { idleContext } from './read-context.ts';

/** Who asks, in a test of streams. */
export function callerNamed(key: string, signal: AbortSignal = new AbortController().signal): ReadContext {
  return idleContext({ caller: { key }, signal });
}

/** What a client holds after the messages it was given, by the part they are about: object by place. It trusts nobody. */
export interface Fold {
  /** `namespace/name@version` of a part, in order. */
  held(part: string): readonly string[];
  /** Parts that were whole once and have not left since. */
  whole(): readonly string[];
  /** The code that the part failed with last, unless it is true again. */
  fault(part: string): string | undefined;
  take(message: ChangesMessage): void;
  /** Another client that holds the same: what becomes of the one is nothing to the other. */
  copy(): Fold;
  /** A copy that begins a stream of its own: a fault that was told before is void then, as who is still behind is told so again. */
  resumed(): Fold;
}

interface Part {
  readonly objects: ReadonlyMap<string, string>;
  readonly whole: boolean;
  readonly fault: string | undefined;
}

const nothing: Part = { objects: new Map(), whole: false, fault: undefined };

/** `cluster Kind`. */
function partOf({ cluster, kind }: Pick<ChangesMessage, 'cluster' | 'kind'>): string {
  return `${cluster.name} ${keyOfKind(kind)}`;
}

/** A client that holds what these parts say. */
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

/** Undefined once nothing is known of the part. */
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

/** A reader that takes all it is given, as soon as it is told that there is something. */
export interface EagerReader<Message extends ChangesMessage> {
  readonly messages: readonly Message[];
  readonly fold: Fold;
  /** What it held after the message of this index: who resumes from its cursor begins with that. */
  foldAt(index: number): Fold;
  readonly reader: StreamReader<Message>;
  /** `TYPE cluster +added ~modified -deleted` of all messages, or of those from the index on. */
  lines(from?: number): readonly string[];
  /** Why it ended. */
  readonly ended: MusterError | undefined;
}

/** Opens a stream and reads it eagerly. `from`: what it holds already. */
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

/** One line for a message, as tests compare them. */
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

/** A reader that takes only what the test takes. */
export interface HandReader<Message extends ChangesMessage> {
  readonly reader: StreamReader<Message>;
  /** How often it was told that there is something. */
  readonly calls: number;
  readonly ended: MusterError | undefined;
  /** All there is to take now, or as many as that. */
  take(most?: number): readonly Message[];
}

/** Opens a stream and waits for the test. */
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
