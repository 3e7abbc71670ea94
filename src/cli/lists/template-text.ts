import type { Json, JsonObject } from '../../core/json.ts';
import { evaluateTemplate, printTemplateResults } from '../../core/jsonpath/evaluate-template.ts';
import { goValue } from '../../core/jsonpath/go-text.ts';
import type { TemplateNode } from '../../core/jsonpath/template-nodes.ts';
import type { TemplateColumn } from '../arguments/list-output.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import { createTableColumns, textOfLines } from '../output/table.ts';

/**
 * Returns what `kubectl -o jsonpath` prints for this value, without a line end.
 *
 * @throws {CommandFailure} with exit code 1 if the template cannot be applied to the value.
 */
export function jsonPathText(
  template: readonly TemplateNode[],
  value: Json,
  { allowsMissingKeys }: { readonly allowsMissingKeys: boolean },
): string {
  return printTemplateResults(valuesOf(template, value, allowsMissingKeys));
}

/**
 * Returns the table of `kubectl -o custom-columns`. An absent value is `<none>`.
 *
 * @throws {CommandFailure} with exit code 1 if a path cannot be applied to an object.
 */
export function customColumnsText(
  columns: readonly TemplateColumn[],
  objects: readonly JsonObject[],
  { hasHeaders }: { readonly hasHeaders: boolean },
): string {
  const rows = objects.map((object) => customColumnsCells(columns, object));
  // kubectl prints the header also if there is no object.
  const header = hasHeaders ? [columns.map((column) => column.header)] : [];
  return textOfLines(createTableColumns([], { hasHeader: false, minWidth: 3 }).lines([...header, ...rows]));
}

/**
 * Returns the cells of one object in the table of `kubectl -o custom-columns`. An absent value is `<none>`.
 *
 * @throws {CommandFailure} with exit code 1 if a path cannot be applied to the object.
 */
export function customColumnsCells(columns: readonly TemplateColumn[], object: JsonObject): readonly string[] {
  return columns.map(({ template }) => {
    const [first = [], ...others] = valuesOf(template, object, true);
    return [...(first.length === 0 ? ['<none>'] : first.map(goValue)), ...others.flat().map(goValue)].join(',');
  });
}

function valuesOf(template: readonly TemplateNode[], value: Json, allowsMissingKeys: boolean) {
  const evaluated = evaluateTemplate(template, value, { missingKeys: allowsMissingKeys ? 'allowed' : 'failure' });
  if (evaluated.result === 'found') return evaluated.values;
  throw new CommandFailure(exitCodes.failed, `the template cannot be applied: ${evaluated.message}`);
}
