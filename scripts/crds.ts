/**
 * `npm run crds`: writes the definitions in deploy/crds, and docs/propagation-fields.md, from src/propagate/model, src/migrate/model and
 * src/registration.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { baseDescriptionOf, innermostSchemaOf, schemaBoundOf, schemaDefaultOf } from '../src/core/json/documents.ts';
import { meanings } from '../src/core/json/field-definitions.ts';
import { printYaml } from '../src/core/json/print-yaml.ts';
import { migrationResource } from '../src/migrate/hub/migration-resource.ts';
import { type CustomResource, customResourceDefinitionOf } from '../src/propagate/hub/custom-resource.ts';
import { hubResources } from '../src/propagate/hub/hub-definitions.ts';
import { clusterResource } from '../src/registration/cluster-resource.ts';

const written = 'Written by `npm run crds` from src/propagate/model and src/migrate/model. Do not edit it.';

/** All kinds of resources that Muster keeps on the hub. */
export const definedResources: readonly CustomResource[] = [...hubResources, migrationResource, clusterResource];

/** Returns the text of a definition, for `kubectl apply`. */
export function definitionText(resource: CustomResource): string {
  return `# ${written.replaceAll('`', '')}\n${printYaml(customResourceDefinitionOf(resource))}`;
}

/** Returns the page that documents every field of these resources. */
export function fieldsPage(resources: readonly CustomResource[]): string {
  const sections = resources.flatMap(({ kind, content }) => [`## ${kind}`, content.description ?? '', ...sectionsOf(content)]);
  const intro =
    'Every field of the resources that Muster keeps on the hub. `kubectl explain propagation.spec` shows the same. GraphQL inputs have the same fields, with ' +
    'enum values in capitals: `SERVER_SIDE_APPLY` for `ServerSideApply`.';
  return `${[`<!-- ${written} -->`, '# Fields of the resources', intro, ...sections].join('\n\n')}\n`;
}

interface Section {
  readonly title: string;
  readonly schema: z.core.$ZodType;
}

/** Returns a section for each structure, in the order in which fields name them. A structure with several fields is described once. */
function sectionsOf(content: z.core.$ZodType): readonly string[] {
  const titles = new Map<z.core.$ZodType, string>();
  const sections: string[] = [];
  const waiting: Section[] = [{ title: '', schema: content }];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const part = innermostSchemaOf(next.schema);
    if (part._zod.def.type !== 'object') continue;
    const fields = Object.entries(part._zod.def.shape);
    const structures: Section[] = [];
    const lines = fields.map(([name, field]) => {
      const { schema, suffix } = memberOf(field);
      const title = `${next.title === '' ? '' : `${next.title}.`}${name}${suffix}`;
      const isStructure = innermostSchemaOf(schema)._zod.def.type === 'object';
      if (isStructure && !titles.has(innermostSchemaOf(schema))) {
        titles.set(innermostSchemaOf(schema), title);
        structures.push({ title, schema });
      }
      const known = isStructure ? titles.get(innermostSchemaOf(schema)) : undefined;
      return lineOf(name, field, known === undefined || known === title ? '' : ` It has the same fields as \`${known}\`.`);
    });
    sections.push(...(next.title === '' ? [] : [`### \`${next.title}\``, baseDescriptionOf(next.schema) ?? '']), lines.join('\n'));
    waiting.unshift(...structures);
  }
  return sections.filter((section) => section !== '');
}

/** Returns the structure or value inside a list, else the field itself. */
function memberOf(field: z.core.$ZodType): { readonly schema: z.core.$ZodType; readonly suffix: string } {
  const { def } = innermostSchemaOf(field)._zod;
  return def.type === 'array' ? { schema: def.element, suffix: '[]' } : { schema: field, suffix: '' };
}

function lineOf(name: string, field: z.core.$ZodType, more: string): string {
  const fallback = schemaDefaultOf(field);
  const isShown = fallback !== undefined && typeof fallback !== 'object';
  const presence = field._zod.optin === undefined ? ', required' : isShown ? `, default \`${fallback}\`` : '';
  const values = Object.entries(meanings.get(innermostSchemaOf(memberOf(field).schema)) ?? {});
  const listed = values.map(([value, meaning]) => `\n  - \`${value}\`: ${meaning}`).join('');
  return `- **\`${name}\`** (${typeOf(field)}${presence}). ${z.globalRegistry.get(field)?.description ?? ''}${more}${listed}`;
}

function typeOf(field: z.core.$ZodType): string {
  const part = innermostSchemaOf(field);
  const { def } = part._zod;
  switch (def.type) {
    case 'array':
      return `list of at most ${schemaBoundOf(part, 'max_length')}: ${typeOf(def.element)}`;
    case 'object':
      return 'structure';
    case 'record':
      return 'map';
    case 'enum':
      return meanings.get(part) !== undefined ? 'one of these' : `one of ${Object.keys(def.entries).join(', ')}`;
    case 'boolean':
      return 'true or false';
    case 'number':
      return `number from ${schemaBoundOf(part, 'greater_than')} to ${schemaBoundOf(part, 'less_than')}`;
    case 'string':
      return 'text';
    default:
      return z.globalRegistry.get(part)?.['x-kubernetes-int-or-string'] === true ? 'number or percentage' : 'any';
  }
}

if (import.meta.main) {
  const root = path.join(import.meta.dirname, '..');
  for (const resource of definedResources) writeFileSync(path.join(root, `deploy/crds/${resource.plural}.yaml`), definitionText(resource));
  writeFileSync(path.join(root, 'docs/propagation-fields.md'), fieldsPage(definedResources));
}
