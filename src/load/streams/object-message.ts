/**
 * A message about objects, as the part that sends it sees it. Readers are given the same message; what was made of it is shared by them.
 */
export abstract class ObjectMessage<Message extends object = object> {
  /** How many objects it holds. */
  abstract readonly objectCount: number;
  /** The same content in two messages, to be sent one after the other. @param most Objects of the first one: 1 to one less than there are. */
  abstract split(most: number): readonly Message[];
  /**
   * The same message with the cluster and the mirror's state of now. Undefined for changes: all readers are given these within a second, whereas a
   * first state may be given to readers that begin much later.
   */
  abstract renew(): Message | undefined;
}
