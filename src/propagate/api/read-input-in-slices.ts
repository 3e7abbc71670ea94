import type { WriteContext } from '../../changes/write-context.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import { manifestTextInSteps } from '../../manifests/read-manifests.ts';
import type { Note } from '../model/notes.ts';
import type { PropagationInput } from '../model/propagations.ts';
import type { Requester } from '../model/spec.ts';
import { maxTemplateObjects } from '../model/template-definition.ts';
import { type InputResult, inputNoteOf, readPropagationInput } from './read-propagation-input.ts';

/** Characters of YAML above which a text is read in time slices. Reading a shorter one takes about 10 ms. */
const longText = 16 << 10;

/** The sources of a template without long YAML texts, each with its place in the template of the caller. Or the problem of the template. */
type OpenedTemplate =
  | { readonly result: 'opened'; readonly sources: readonly Json[]; readonly places: readonly string[] }
  | { readonly result: 'refused'; readonly note: Note };

/**
 * Checks an input as `readPropagationInput` does, but reads the long YAML texts of its template in time slices. Their manifests take their place as
 * JSON. Problems have the paths of the input of the caller.
 */
export async function readInputInSlices({ timeSlices }: WriteContext, input: PropagationInput, requester: Requester): Promise<InputResult> {
  const { template } = input;
  if (timeSlices === undefined || !Array.isArray(template) || !template.some((source) => isLong(yamlOf(source)))) {
    return readPropagationInput(input, requester);
  }
  const opened = await timeSlices.run(openInSteps(template));
  if (opened.result === 'refused') return { result: 'invalid', notes: [opened.note] };
  const read = readPropagationInput({ ...input, template: opened.sources }, requester);
  return read.result === 'valid' ? read : { ...read, notes: read.notes.map((note) => withPlace(note, opened.places)) };
}

function* openInSteps(template: readonly Json[]): Steps<OpenedTemplate> {
  const sources: Json[] = [];
  const places: string[] = [];
  for (const [index, source] of template.entries()) {
    const place = `template[${index}]`;
    const yaml = yamlOf(source);
    if (!isLong(yaml)) {
      sources.push(source);
      places.push(place);
      continue;
    }
    const read = yield* manifestTextInSteps(yaml);
    if (read.result === 'refused') {
      const below = read.path === '' || read.path.startsWith('[') ? read.path : `.${read.path}`;
      return { result: 'refused', note: inputNoteOf({ path: `${place}.yaml${below}`, message: read.message }) };
    }
    for (const [document, manifest] of read.manifests.entries()) {
      sources.push({ json: manifest });
      places.push(read.manifests.length === 1 ? `${place}.yaml` : `${place}.yaml[${document}]`);
    }
  }
  if (sources.length <= maxTemplateObjects) return { result: 'opened', sources, places };
  const message = `expected at most ${maxTemplateObjects} objects, got ${sources.length}`;
  return { result: 'refused', note: inputNoteOf({ path: 'template', message }) };
}

/** Replaces the place of a source in the opened template by its place in the template of the caller. */
function withPlace(note: Note, places: readonly string[]): Note {
  const path = note.path?.replace(/^template\[(\d+)\](\.json)?/, (whole, index: string, member: string | undefined) => {
    const place = places[Number(index)];
    if (place === undefined) return whole;
    return place.includes('.yaml') ? place : `${place}${member ?? ''}`;
  });
  return path === undefined ? note : { ...note, path };
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
