import { fullObjectName, type NamedObject } from '../../core/columns/object-names.ts';
import type { JsonObject } from '../../core/json.ts';
import type { StreamedChange, StreamedItem } from '../../core/streams/streamed-objects.ts';
import type { ListOutput } from '../arguments/list-output.ts';
import { withClusterAnnotation } from '../lists/list-documents.ts';
import { jsonPathText } from '../lists/template-text.ts';
import { jsonText } from '../output/json-text.ts';
import { printable } from '../output/table.ts';

/** An object of a stream, with the fields that its document needs. */
export interface WatchedDocument extends NamedObject, StreamedItem {
  readonly cluster: { readonly name: string };
  readonly object?: JsonObject;
  readonly yaml?: string;
}

/** The formats that print a document per change. */
export type WatchedFormat = Extract<ListOutput, { type: 'json' | 'yaml' | 'name' | 'jsonpath' }>;

export interface WatchedDocumentOptions {
  readonly format: WatchedFormat;
  /** True: each document has the type of its change. */
  readonly hasEvents: boolean;
  /** True: in a jsonpath template, a field that an object does not have prints nothing. False: the command fails. */
  readonly allowsMissingKeys: boolean;
}

/** Returns the GraphQL selection that the documents of a format need. */
export function fieldsOfFormat({ type }: WatchedFormat): string {
  return type === 'name' ? '' : type === 'yaml' ? 'yaml' : 'object';
}

/**
 * Returns the document of a change. JSON is one line. With `hasEvents`, JSON, YAML and the input of a template are `{ type, object }`, as
 * in kubectl.
 *
 * @throws {CommandFailure} with exit code 1 if a template cannot be applied to the object.
 */
export function documentOfChange(change: StreamedChange<WatchedDocument>, options: WatchedDocumentOptions): string {
  const { format, hasEvents } = options;
  const { type, item } = change;
  const { object = {}, yaml = '', cluster } = item;
  const printed = () => {
    const whole = withClusterAnnotation(object, cluster.name);
    return hasEvents ? { type, object: whole } : whole;
  };
  switch (format.type) {
    case 'json':
      return `${jsonText(printed())}\n`;
    case 'yaml':
      return `---\n# cluster: ${printable(cluster.name)}\n${hasEvents ? `type: ${type}\nobject:\n${indented(yaml)}` : yaml}`;
    case 'name':
      return `${hasEvents ? `${type.padEnd('MODIFIED'.length)}   ` : ''}${fullObjectName(cluster.name, item)}\n`;
    case 'jsonpath':
      return jsonPathText(format.template, printed(), options);
    default:
      return format satisfies never;
  }
}

/** Indents a YAML document by two spaces. Empty lines stay empty. */
function indented(yaml: string): string {
  return yaml.replaceAll(/^(?=.)/gm, '  ');
}
