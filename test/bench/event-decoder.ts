/**
 * Receives the type and payload of each event. The payload is empty while the decoder only counts. An answer that is not a stream gives one
 * event `refused` with its head as payload.
 */
export type EventListener = (type: string, payload: string) => void;

const marker = Buffer.from('event: next');
const newline = 10;

/** Splits a chunked answer of server-sent events (graphql-sse, distinct connections) into events. It is very cheap. */
export class EventDecoder {
  readonly #listener: EventListener;
  #whole = true;
  /** Incomplete text of the head, of the chunks and of the events in them. The head is undefined once it is complete. */
  #head: string | undefined = '';
  #chunks = '';
  #events = '';
  /** The last bytes of the previous read while counting, because a marker may span two reads. */
  #tail = '';

  constructor(listener: EventListener) {
    this.#listener = listener;
  }

  /** Switches to counting. This is final, because chunk boundaries are not tracked any more. */
  countOnly(): void {
    this.#whole = false;
    this.#chunks = '';
    this.#events = '';
  }

  /** Decodes the next bytes. The caller may reuse the buffer afterwards. */
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
      // An event without a type is a comment.
      if (type !== undefined) this.#listener(type, lines.find((line) => line.startsWith('data: '))?.slice(6) ?? '');
    }
  }
}
