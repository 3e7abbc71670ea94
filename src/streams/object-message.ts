/**
 * A message about objects, as the sending side sees it. All readers get the same message, and share the results that were made from it.
 */
export abstract class ObjectMessage<Message extends object = object> {
  /** How many objects it holds. */
  abstract readonly objectCount: number;
  /** The same content in two messages, to be sent one after the other. @param most Objects of the first one: at least 1, less than `objectCount`. */
  abstract split(most: number): readonly Message[];
  /**
   * The same message with the current state of the cluster and the mirror, for readers that begin much later and get a shared first state. Undefined for
   * changes: all readers get them within a second.
   */
  abstract renew(): Message | undefined;
}
