/** The fields of a stream's message that are needed to follow its objects. */
export interface ChangeMessage {
  readonly type: 'INITIAL' | 'SYNCED' | 'LIVE' | 'RESET' | 'BOOKMARK' | 'FAILED';
  readonly cluster: { readonly name: string };
  readonly cursor: string;
  readonly fault: { readonly code: string } | null;
  readonly added: readonly HeldObject[];
  readonly modified: readonly HeldObject[];
  readonly deleted: readonly HeldObject[];
}

export interface HeldObject {
  readonly id: string;
  readonly metadata: {
    readonly namespace?: string | null;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>> | null;
  };
}

interface HeldCluster {
  phase: 'unknown' | 'initial' | 'synced';
  isBehind: boolean;
  readonly objects: Map<string, HeldObject>;
}

/**
 * The objects of one kind that a client has after the messages of a stream, folded as the documentation describes.
 *
 * It throws for every message that a stream must not send: the deletion of an unknown object, a second addition, an older version, or one
 * object twice in a message.
 */
export class HeldObjects {
  readonly #clusters: Map<string, HeldCluster>;
  #cursor: string | undefined;

  constructor(clusters: ReadonlyMap<string, HeldCluster> = new Map(), cursor?: string) {
    this.#clusters = new Map([...clusters].map(([name, one]) => [name, { ...one, objects: new Map(one.objects) }]));
    this.#cursor = cursor;
  }

  /**
   * Folds these messages.
   *
   * @throws {Error} if a message is not allowed.
   */
  static of(messages: readonly ChangeMessage[]): HeldObjects {
    const held = new HeldObjects();
    for (const message of messages) held.take(message);
    return held;
  }

  /** The cursor of the latest message. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** Copies the objects for a client that resumes on another stream. That client does not know yet whether a cluster is stale. */
  resumed(): HeldObjects {
    const copy = new HeldObjects(this.#clusters, this.#cursor);
    for (const cluster of copy.#clusters.values()) cluster.isBehind = false;
    return copy;
  }

  /**
   * Folds one message.
   *
   * @throws {Error} if the message is not allowed.
   */
  take(message: ChangeMessage): void {
    const cluster = this.#clusterOf(message.cluster.name);
    const isWrong = (what: string) => new Error(`${what}: ${JSON.stringify(message).slice(0, 600)}`);
    const changes = [...message.added, ...message.modified, ...message.deleted];
    if (message.cursor.length === 0) throw isWrong('expected a cursor');
    if (new Set(changes.map(({ id }) => id)).size < changes.length) throw isWrong('expected each object once');
    if ((message.type === 'FAILED') !== (message.fault !== null)) throw isWrong('expected a fault with FAILED, and only with it');
    // A resume in the middle of an initial state sends changes of objects that were sent before.
    const mayBeModified = message.type === 'LIVE' || (message.type === 'INITIAL' && cluster.phase === 'initial');
    const mayChange = mayBeModified || (message.type === 'INITIAL' && changes.length === message.added.length);
    if (changes.length > 0 && !mayChange) throw isWrong(`expected no such objects with ${message.type}`);
    this.#step(cluster, message, isWrong);
    for (const object of message.deleted) this.#delete(cluster, object, isWrong);
    for (const object of message.modified) this.#modify(cluster, object, isWrong);
    for (const object of message.added) {
      if (cluster.objects.has(object.id)) throw isWrong(`expected no second addition of ${object.metadata.name}`);
      cluster.objects.set(object.id, object);
    }
    this.#cursor = message.cursor;
  }

  /** The clusters whose initial state is complete. */
  synced(): readonly string[] {
    return [...this.#clusters].filter(([, { phase }]) => phase === 'synced').map(([name]) => name);
  }

  /** The clusters that were reported as stale, and have not been reported as in sync since. */
  behind(): readonly string[] {
    return [...this.#clusters].filter(([, { isBehind }]) => isBehind).map(([name]) => name);
  }

  /** The identities of all objects, sorted as in `podsInClusters`. */
  identities(): readonly string[] {
    const identityOf = (cluster: string, { metadata }: HeldObject) =>
      `${cluster}/${metadata.namespace}/${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`;
    return [...this.#clusters].flatMap(([name, { objects }]) => [...objects.values()].map((object) => identityOf(name, object))).toSorted();
  }

  /** The names of objects, sorted by cluster and name. */
  names(): readonly string[] {
    return [...this.#clusters]
      .flatMap(([name, { objects }]) => [...objects.values()].map(({ metadata }) => `${name}/${metadata.name}`))
      .toSorted();
  }

  #clusterOf(name: string): HeldCluster {
    const known = this.#clusters.get(name);
    if (known !== undefined) return known;
    const cluster: HeldCluster = { phase: 'unknown', isBehind: false, objects: new Map() };
    this.#clusters.set(name, cluster);
    return cluster;
  }

  #step(cluster: HeldCluster, message: ChangeMessage, isWrong: (what: string) => Error): void {
    const { fault, added, modified, deleted } = message;
    switch (message.type) {
      case 'INITIAL':
        if (cluster.phase === 'synced') throw isWrong('expected no first state where one is whole');
        cluster.phase = 'initial';
        return;
      case 'SYNCED':
        if (cluster.phase === 'synced') throw isWrong('expected SYNCED once');
        cluster.phase = 'synced';
        cluster.isBehind = false;
        return;
      case 'LIVE':
        if (cluster.phase !== 'synced') throw isWrong('expected no change before the first state is whole');
        if (added.length + modified.length + deleted.length === 0 && !cluster.isBehind) throw isWrong('expected LIVE to say something');
        cluster.isBehind = false;
        return;
      case 'RESET':
        cluster.phase = 'initial';
        cluster.isBehind = false;
        cluster.objects.clear();
        return;
      case 'BOOKMARK':
        return;
      case 'FAILED':
        cluster.isBehind = true;
        if (fault?.code !== 'GONE') return;
        this.#clusters.delete([...this.#clusters].find(([, one]) => one === cluster)?.[0] ?? '');
        return;
      default: {
        message.type satisfies never;
      }
    }
  }

  #delete(cluster: HeldCluster, { id, metadata }: HeldObject, isWrong: (what: string) => Error): void {
    const before = cluster.objects.get(id);
    if (before === undefined) throw isWrong(`expected a deletion of what is there, once, got one of ${metadata.name}`);
    if (before.metadata.uid !== metadata.uid) throw isWrong(`expected a deletion of ${before.metadata.uid}, got ${metadata.uid}`);
    cluster.objects.delete(id);
  }

  #modify(cluster: HeldCluster, object: HeldObject, isWrong: (what: string) => Error): void {
    const before = cluster.objects.get(object.id);
    if (before === undefined) throw isWrong(`expected a change of what exists, got one of ${object.metadata.name}`);
    if (before.metadata.uid !== object.metadata.uid) throw isWrong(`expected ${object.metadata.name} to go before it comes anew`);
    const [was, is] = [before, object].map(({ metadata }) => BigInt(metadata.resourceVersion));
    if (was !== undefined && is !== undefined && is < was)
      throw isWrong(`expected no older version of ${object.metadata.name} than ${was}`);
    cluster.objects.set(object.id, object);
  }
}
