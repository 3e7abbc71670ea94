import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { MusterError } from '../core/errors.ts';
import type { ReadyExecution } from './engine.ts';
import type { Answer, Asking, Operations } from './operations.ts';
import type { OperationRequest } from './request-body.ts';

/** Bytes of one answer, for who takes gzip and for who does not. */
export interface ReadyBytes {
  readonly plain: Uint8Array;
  /** Level 6, made on zlib's threads; absent where it is no shorter. */
  readonly gzipped: Uint8Array | undefined;
}

/** Distinct documents kept per schema. */
const maxDocuments = 8;

/** Maximum bytes of all cached answers, plain and compressed: 64 MiB. An answer with the whole schema and many custom kinds takes 20 MiB. */
const maxBytes = 64 << 20;

/** Documents longer than this are answered but not kept. */
const maxKeyLength = 64 << 10;

/** True if the operation asks for nothing but the schema: the same answer for everybody, until the schema changes. */
export function isIntrospection(operation: OperationDefinitionNode): boolean {
  return operation.selectionSet.selections.every(
    (selection) => selection.kind === Kind.FIELD && ['__schema', '__type', '__typename'].includes(selection.name.value),
  );
}

/**
 * Answers to introspection, made once for each schema, document and variables. Requests share an answer while it is made, and a failed answer is not kept.
 * The cache keeps the answers of the schema that was requested last, within a bound in bytes.
 */
export class IntrospectionCache {
  #schema: WeakRef<GraphQLSchema> | undefined;
  #kept = newCache();

  /** Bytes that are kept now. */
  get bytes(): number {
    return this.#kept.calculatedSize;
  }

  /** The kept bytes; else those of `make`, compressed. */
  async bytesOf(schema: GraphQLSchema, request: OperationRequest, make: () => Promise<Uint8Array>): Promise<ReadyBytes> {
    const key = JSON.stringify([request.query, request.operationName, request.variables]);
    const kept = this.#keptOf(schema);
    const found = kept.get(key);
    if (found !== undefined) return found;
    const making = make().then(withGzip);
    if (key.length <= maxKeyLength) {
      // The size of the answer is known only when it is made.
      kept.set(key, making, { size: 1 });
      const keep = ({ plain, gzipped }: ReadyBytes) => {
        const size = key.length * 2 + plain.length + (gzipped?.length ?? 0);
        if (kept.peek(key) !== making) return;
        // Setting the same value again would keep its old size.
        kept.delete(key);
        kept.set(key, making, { size });
      };
      making.then(keep).catch(() => kept.delete(key));
    }
    return making;
  }

  #keptOf(schema: GraphQLSchema): LRUCache<string, Promise<ReadyBytes>> {
    if (this.#schema?.deref() === schema) return this.#kept;
    this.#schema = new WeakRef(schema);
    this.#kept = newCache();
    return this.#kept;
  }
}

function newCache(): LRUCache<string, Promise<ReadyBytes>> {
  return new LRUCache({ max: maxDocuments, maxSize: maxBytes });
}

/** Answers introspection on every transport, from bytes that were made once. */
export class Introspections {
  readonly #operations: Pick<Operations, 'run'>;
  readonly #cache = new IntrospectionCache();
  readonly #lives = new Set<AbortController>();

  constructor(operations: Pick<Operations, 'run'>) {
    this.#operations = operations;
  }

  /**
   * The bytes of its answer, or the answer itself if it has errors. The bytes are for everybody who asks the same: no one client's departure ends
   * their making.
   */
  async answer(ready: ReadyExecution, request: OperationRequest, asking: Asking): Promise<ReadyBytes | Answer> {
    const make = async () => {
      const life = new AbortController();
      this.#lives.add(life);
      const answer = await this.#operations.run(ready, request, { ...asking, life }).finally(() => this.#lives.delete(life));
      // An answer with errors names its request: it is told, not kept.
      if (answer.body.errors !== undefined) throw new NotKept(answer);
      return Buffer.concat(answer.json);
    };
    try {
      return await this.#cache.bytesOf(ready.served.schema, request, make);
    } catch (error) {
      if (!(error instanceof NotKept)) throw error;
      return error.answer;
    }
  }

  /** Ends what is being made, telling those who wait why. */
  endAll(reason: MusterError): void {
    for (const life of this.#lives) life.abort(reason);
  }
}

class NotKept extends Error {
  override readonly name = 'NotKept';
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('an answer with errors');
    this.answer = answer;
  }
}

/** The bytes beside their gzip. */
export async function withGzip(plain: Uint8Array): Promise<ReadyBytes> {
  const gzipped = await promisify(gzip)(plain, { level: 6 });
  return { plain, gzipped: gzipped.length < plain.length ? gzipped : undefined };
}
