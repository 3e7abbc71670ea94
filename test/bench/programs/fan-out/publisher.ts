/** The protocol between readers and a publisher. */
export type StreamProtocol = 'raw' | 'websocket' | 'sse';

/** A program that sends changes to many readers: Muster, a floor or another library. */
export interface Publisher {
  readonly port: number;
  readonly protocol: StreamProtocol;
  /** The subscription of the readers. Each receives a message that contains `SYNCED`, and then the published changes. */
  readonly query: string;
  /** Publishes this number of changes in one turn. `stamp` becomes the label `bench` of each, unless the bytes are prepared in advance. */
  publish(changes: number, stamp?: string): void;
}

/** Default bytes of one message, as for a change of a pod with 15 leaf fields. */
export const usualFrameBytes = 1_000;

/** The subscription of the readers, with the leaf fields of each changed pod. */
export const podStream = (leaves: string) =>
  `subscription { pods { type cursor cluster { name } fault { code } added { ${leaves} } modified { ${leaves} } deleted { id } } }`;
