import { readFileSync } from 'node:fs';
import path from 'node:path';
import { buildSchema, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { selectionForColumns } from '../../../src/cli/lists/list-tables.ts';
import { relatedFields } from '../../../src/cli/lists/related-objects.ts';
import { kindTables } from '../../../src/core/columns/kind-tables.ts';
import { summaryDefinition, summaryFragment } from '../../../src/core/columns/summary-columns.ts';

const schema = buildSchema(readFileSync(path.join(import.meta.dirname, '../../../schema/muster.graphql'), 'utf8'));

test.each(kindTables.map((table) => [`${table.kind}.${table.group}`, table] as const))(
  'the columns of %s select fields of the schema',
  (_, table) => {
    const kind = { ...table, type: table.kind, plural: '', namespaced: true, source: 'BUILT_IN' };
    const query = `query { resources { items { ${selectionForColumns(kind, table.columns)} ...${summaryFragment} ${relatedFields(kind)} } } } ${summaryDefinition}`;
    expect(validate(schema, parse(query)).map(({ message }) => message)).toEqual([]);
  },
);
