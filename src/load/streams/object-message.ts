/**
 * A message about objects, as the part that sends it sees it. Readers are given the same message; what was made of it is shared by them.
 */
export abstract class ObjectMessage<Message extends object = object> {
  /** How many objects it holds. */
  abstract readonly objectCount: number;
  /** The same content in messages of at most `most` objects each, in order. A cursor of any but the last one resumes with the source told anew. */
  abstract split(most: number): readonly Message[];
  /**
   * The same message with the cluster and the mirror's state of now. Undefined for changes: all readers are given these within a second, whereas a
   * first state may be given to readers that begin much later.
   */
  abstract renew(): Message | undefined;
}
