/**
 * A message about objects, as the sending side sees it. All readers get the same message object, so results that are made from it are
 * shared.
 */
export abstract class ObjectMessage<Message extends object = object> {
  /** Number of objects in the message. */
  abstract readonly objectCount: number;
  /**
   * Returns two messages with the same content, to be sent one after the other.
   *
   * @param max Objects of the first message: at least 1, less than `objectCount`.
   */
  abstract split(max: number): readonly Message[];
  /**
   * Returns the same message with the current state of the cluster and of the mirror. It is for readers that get a shared first state much
   * later. Undefined for changes, because all readers get those within a second.
   */
  abstract renew(): Message | undefined;
}
