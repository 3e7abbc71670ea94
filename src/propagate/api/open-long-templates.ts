import type { WriteContext } from '../../changes/write-context.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { manifestTextInSteps } from '../../manifests/read-manifests.ts';
import type { Note } from '../model/notes.ts';
import type { PropagationInput } from '../model/propagations.ts';
import { inputNoteOf } from './read-propagation-input.ts';

/** Characters of YAML above which a text is read in time slices. Reading a shorter one takes about 10 ms. */
const longText = 16 << 10;

/** An input without long YAML texts, or the problem of one of them. */
type OpenedInput = { readonly result: 'opened'; readonly input: PropagationInput } | { readonly result: 'refused'; readonly note: Note };

/**
 * Reads the long YAML texts in the template of an input in time slices. Their manifests take their place as JSON. The definition of a
 * Propagation reads all other texts at once.
 */
export async function openLongTemplates({ timeSlices }: WriteContext, input: PropagationInput): Promise<OpenedInput> {
  const { template } = input;
  if (timeSlices === undefined || !Array.isArray(template) || !template.some((source) => isLong(yamlOf(source)))) {
    return { result: 'opened', input };
  }
  return await timeSlices.run(openInSteps(input, template));
}

function* openInSteps(input: PropagationInput, template: readonly Json[]): Steps<OpenedInput> {
  const opened: Json[] = [];
  for (const [index, source] of template.entries()) {
    const yaml = yamlOf(source);
    if (!isLong(yaml)) {
      opened.push(source);
      continue;
    }
    const read = yield* manifestTextInSteps(yaml);
    if (read.result === 'refused') {
      const below = read.path === '' || read.path.startsWith('[') ? read.path : `.${read.path}`;
      return { result: 'refused', note: inputNoteOf({ path: `template[${index}].yaml${below}`, message: read.message }) };
    }
    for (const manifest of read.manifests) opened.push({ json: manifest });
  }
  return { result: 'opened', input: { ...input, template: opened } };
}

/** The text of a source that has nothing else. Sources with several members are errors, which the definition reports. */
function yamlOf(source: Json): string | undefined {
  if (!isJsonObject(source)) return undefined;
  const { yaml, ...others } = source;
  return typeof yaml === 'string' && Object.values(others).every((other) => other === undefined || other === null) ? yaml : undefined;
}

function isLong(yaml: string | undefined): yaml is string {
  return yaml !== undefined && yaml.length > longText;
}
