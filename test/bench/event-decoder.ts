/** Told of each event: its type and payload, which is empty while the decoder only counts. An answer that is no stream is a `refused`: its head. */
export type EventListener = (type: string, payload: string) => void;

const marker = Buffer.from('event: next');
const newline = 10;

/** Cuts a chunked answer of server-sent events (graphql-sse, distinct connections) into events, at next to no cost. */
export class EventDecoder {
  readonly #listener: EventListener;
  #whole = true;
  /** Text that is not understood yet: of the head, of the chunks, of the events in them. */
  #head: string | undefined = '';
  #chunks = '';
  #events = '';
  /** The end of what was counted last: the marker may stand across two reads. */
  #tail = '';

  constructor(listener: EventListener) {
    this.#listener = listener;
  }

  /** From now on events are counted only. There is no way back, as nothing is cut into chunks any more. */
  countOnly(): void {
    this.#whole = false;
    this.#chunks = '';
    this.#events = '';
  }

  /** The bytes may be written over once this has returned. */
  push(bytes: Buffer): void {
    if (this.#whole) this.#read(bytes.toString('latin1'));
    else this.#count(bytes);
  }

  #count(bytes: Buffer): void {
    const edge = this.#tail + bytes.toString('latin1', 0, marker.length - 1);
    if (this.#tail !== '' && edge.includes('event: next')) this.#listener('next', '');
    for (let at = bytes.indexOf(marker); at !== -1; at = bytes.indexOf(marker, at + marker.length)) this.#listener('next', '');
    if (bytes[bytes.length - 1] === newline) this.#tail = '';
    else
      this.#tail = (bytes.length < marker.length ? edge : bytes.toString('latin1', bytes.length - marker.length)).slice(1 - marker.length);
  }

  #read(text: string): void {
    if (this.#head === undefined) this.#readChunks(text);
    else this.#readHead(this.#head + text);
  }

  #readHead(head: string): void {
    this.#head = head;
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    if (head.startsWith('HTTP/1.1 200')) {
      this.#head = undefined;
      this.#readChunks(head.slice(end + 4));
    } else this.#listener('refused', head);
  }

  #readChunks(text: string): void {
    this.#chunks += text;
    for (;;) {
      const line = this.#chunks.indexOf('\r\n');
      if (line === -1) return;
      const size = Number.parseInt(this.#chunks.slice(0, line), 16);
      const end = line + 2 + size;
      if (this.#chunks.length < end + 2) return;
      this.#events += this.#chunks.slice(line + 2, end);
      this.#chunks = this.#chunks.slice(end + 2);
      this.#readEvents();
    }
  }

  #readEvents(): void {
    const texts = this.#events.split('\n\n');
    this.#events = texts.pop() ?? '';
    for (const text of texts) {
      const lines = text.split('\n');
      const type = lines.find((line) => line.startsWith('event: '))?.slice(7);
      // What has no type is a comment.
      if (type !== undefined) this.#listener(type, lines.find((line) => line.startsWith('data: '))?.slice(6) ?? '');
    }
  }
}
