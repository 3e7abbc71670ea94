const beginning = 'no kind ';

/** Returns the message of the `BAD_INPUT` for a name that means no kind. */
export function unknownKindMessage(name: string, meant: string | undefined): string {
  return `${beginning}${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

/** True if `unknownKindMessage` made the message. Nothing else in the error says that a kind is unknown. */
export function isUnknownKindMessage(message: string): boolean {
  return message.startsWith(beginning);
}
