/** How readers speak to a program that publishes. */
export type StreamProtocol = 'raw' | 'websocket' | 'sse';

/** What fans out: ours, a floor or a stranger. */
export interface Publisher {
  readonly port: number;
  readonly protocol: StreamProtocol;
  /** What readers subscribe to. Each gets a message with `SYNCED` in it, and then what is published. */
  readonly query: string;
  /** Publishes so many changes in one turn. `stamp` goes into each, at `bench` of its labels, where the bytes are not made beforehand. */
  publish(changes: number, stamp?: string): void;
}

/** Bytes of one message where nothing else is said: of a pod's change with 15 leaves. */
export const usualFrameBytes = 1_000;

/** What the readers ask for: fifteen leaves of what changed, as a dashboard's table has them. */
export const podStream = (leaves: string) =>
  `subscription { pods { type cursor cluster { name } fault { code } added { ${leaves} } modified { ${leaves} } deleted { id } } }`;
