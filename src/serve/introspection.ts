import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { OperationRequest } from './request-body.ts';

/** Bytes of one answer, for who takes gzip and for who does not. */
export interface ReadyBytes {
  readonly plain: Uint8Array;
  /** Level 6, made on zlib's threads; absent where it is no shorter. */
  readonly gzipped: Uint8Array | undefined;
}

/** Distinct documents kept per schema. */
const maxDocuments = 8;

/** Documents longer than this are answered but not kept. */
const maxKeyLength = 64 << 10;

/** True if the operation asks for nothing but the schema: the same answer for everybody, until the schema changes. */
export function isIntrospection(operation: OperationDefinitionNode): boolean {
  return operation.selectionSet.selections.every(
    (selection) => selection.kind === Kind.FIELD && ['__schema', '__type', '__typename'].includes(selection.name.value),
  );
}

/** Answers to introspection, made once per schema, document and variables: in flight they are shared, a failed one is not kept. */
export class IntrospectionCache {
  readonly #bySchema = new WeakMap<GraphQLSchema, LRUCache<string, Promise<ReadyBytes>>>();

  /** The kept bytes; else those of `make`, compressed. */
  async bytesOf(schema: GraphQLSchema, request: OperationRequest, make: () => Promise<Uint8Array>): Promise<ReadyBytes> {
    const key = JSON.stringify([request.query, request.operationName, request.variables]);
    const kept = this.#keptOf(schema);
    const found = kept.get(key);
    if (found !== undefined) return found;
    const making = make().then(withGzip);
    if (key.length <= maxKeyLength) {
      kept.set(key, making);
      making.catch(() => kept.delete(key));
    }
    return making;
  }

  #keptOf(schema: GraphQLSchema): LRUCache<string, Promise<ReadyBytes>> {
    const kept = this.#bySchema.get(schema) ?? new LRUCache<string, Promise<ReadyBytes>>({ max: maxDocuments });
    this.#bySchema.set(schema, kept);
    return kept;
  }
}

/** The bytes beside their gzip. */
export async function withGzip(plain: Uint8Array): Promise<ReadyBytes> {
  const gzipped = await promisify(gzip)(plain, { level: 6 });
  return { plain, gzipped: gzipped.length < plain.length ? gzipped : undefined };
}
