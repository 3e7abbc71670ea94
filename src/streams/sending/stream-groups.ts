import { createHash } from 'node:crypto';
import { type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode, visit } from 'graphql';
import { LRUCache } from 'lru-cache';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { isPersonal, isVolatile } from '../../graph/context/personal.ts';
import type { subscribeTo } from '../../graph/context/subscribe.ts';
import type { RequestOrigin } from '../../operations/operation.ts';
import type { OperationRequest } from '../../operations/operation-request.ts';
import type { ServedSchema } from '../../operations/served-schema.ts';
import { StreamGroup, type StreamGroupOptions } from './stream-group.ts';

/** A subscription that was parsed, validated and found affordable. */
export interface ValidatedSubscription {
  readonly servedSchema: ServedSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /**
   * Runs the `subscribe` resolver of the root field, which returns the source of messages. Returns errors if variables or arguments are
   * wrong. No reader starts before `StreamSource.open`.
   */
  openSource(contextValue: object): ReturnType<typeof subscribeTo>;
}

/** A requested stream: the validated subscription, the request and its origin. */
export interface StreamRequest {
  readonly subscription: ValidatedSubscription;
  readonly request: OperationRequest;
  readonly origin: RequestOrigin;
}

/**
 * Maximum bytes of large renderings that are held strongly. The least recently used one is dropped first. Other renderings live as long as
 * their message, and views hold messages weakly.
 */
const maxHeldBytes = 8 << 20;
/** Renderings of at least this many bytes are held. */
const largeBytes = 16 << 10;

/** Options of a group that do not follow from the document. */
type GroupOptions = Omit<StreamGroupOptions, 'onRendered' | 'isVolatile'>;

interface HeldRendering {
  readonly group: StreamGroup;
  readonly bytes: number;
}

/** The groups that have streams. */
export class StreamGroups {
  readonly #held = new LRUCache<object, HeldRendering>({ maxSize: maxHeldBytes, sizeCalculation: ({ bytes }) => bytes });
  readonly #groups = new Map<GraphQLSchema, Map<string, StreamGroup>>();

  get size(): number {
    return this.#groups.values().reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Joins the group of this stream, and creates the group if there is none. Disposing the result leaves the group. A second disposal does
   * nothing.
   */
  join(requested: StreamRequest, options: GroupOptions): { readonly group: StreamGroup } & Disposable {
    const { schema } = requested.subscription.servedSchema;
    const ofSchema = this.#groups.get(schema) ?? new Map<string, StreamGroup>();
    this.#groups.set(schema, ofSchema);
    const key = keyOf(requested);
    const group = ofSchema.get(key) ?? this.#create(requested, options);
    ofSchema.set(key, group);
    group.join();
    let left = false;
    return {
      group,
      [Symbol.dispose]: () => {
        if (left) return;
        left = true;
        if (!group.leave()) return;
        ofSchema.delete(key);
        for (const [message, held] of this.#held) if (held.group === group) this.#held.delete(message);
        if (ofSchema.size === 0) this.#groups.delete(schema);
      },
    };
  }

  #create({ subscription: { servedSchema, document }, request }: StreamRequest, options: GroupOptions): StreamGroup {
    const group: StreamGroup = new StreamGroup({
      ...options,
      isVolatile: isVolatile(servedSchema.schema, document, request.operationName),
      onRendered: (message, { json: { length: bytes } }) => {
        if (bytes >= largeBytes) this.#held.set(message, { group, bytes });
      },
    });
    return group;
  }
}

/** Returns the key of the group for a requested stream. The key is a digest, because the texts of 5,000 streams would be large keys. */
function keyOf({ subscription: { servedSchema, document, operation }, request, origin }: StreamRequest): string {
  const who = isPersonal(servedSchema.schema, document, request.operationName) ? origin.caller.key : null;
  const key = [request.query, request.operationName ?? null, viewVariables(document, operation, request.variables), who];
  return createHash('sha256').update(canonicalJson(key)).digest('base64');
}

/** Returns the variables that divide streams into groups, ordered by name: all declared variables except the cursor variable. */
function viewVariables(document: DocumentNode, operation: OperationDefinitionNode, variables: JsonObject = {}): Json {
  const cursor = cursorVariableOf(document, operation);
  const names = (operation.variableDefinitions ?? []).map(({ variable }) => variable.name.value).toSorted();
  return names.filter((name) => name !== cursor && Object.hasOwn(variables, name)).map((name) => [name, variables[name] ?? null]);
}

const cursorVariables = new WeakMap<OperationDefinitionNode, { readonly name: string | undefined }>();

/**
 * Returns the name of the variable that passes only the cursor: it is used once in the document, as `after` of the root field. Undefined if
 * there is no such variable.
 */
export function cursorVariableOf(document: DocumentNode, operation: OperationDefinitionNode): string | undefined {
  const known = cursorVariables.get(operation) ?? { name: findCursorVariable(document, operation) };
  cursorVariables.set(operation, known);
  return known.name;
}

function findCursorVariable(document: DocumentNode, { selectionSet }: OperationDefinitionNode): string | undefined {
  const fields = selectionSet.selections.filter((selection) => selection.kind === Kind.FIELD);
  const after = fields.flatMap(({ arguments: given = [] }) => given).find(({ name }) => name.value === 'after')?.value;
  if (after?.kind !== Kind.VARIABLE) return undefined;
  let uses = 0;
  visit(document, {
    VariableDefinition: () => false,
    Variable: ({ name }) => {
      if (name.value === after.name.value) uses++;
    },
  });
  return uses === 1 ? after.name.value : undefined;
}
