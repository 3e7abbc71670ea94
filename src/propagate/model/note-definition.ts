import { structureSchema } from '../../core/json/documents.ts';
import { anyText, message } from '../../core/json/field-definitions.ts';

/** A note as the hub keeps it. */
export const recordedNote = structureSchema({
  severity: anyText.describe('INFO, WARNING or ERROR.'),
  code: anyText.describe('The type of the note as one word for programs.'),
  message: message.describe('The note as text for people: what was expected, and what the input has.'),
  path: anyText.exactOptional().describe('The path of the field in the input.'),
});
