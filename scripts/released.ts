/**
 * `npm run released`: makes schema/released.graphql of schema/muster.graphql, without descriptions. To be run with each release, from
 * the first tag on then only: test/graph/breaking-changes.test.ts holds every later schema against it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse, print, visit } from 'graphql';

const folder = path.join(import.meta.dirname, '../schema');
const document = parse(readFileSync(path.join(folder, 'muster.graphql'), 'utf8'));
const bare = visit(document, { StringValue: (node, key) => (key === 'description' ? null : node) });
writeFileSync(path.join(folder, 'released.graphql'), `${print(bare)}\n`);
