/**
 * `npm run released`: creates schema/released.graphql from schema/muster.graphql, without descriptions.
 *
 * Run it only for a release, from the first tag on. test/graph/breaking-changes.test.ts compares every later schema with it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse, print, visit } from 'graphql';

const folder = path.join(import.meta.dirname, '../schema');
const document = parse(readFileSync(path.join(folder, 'muster.graphql'), 'utf8'));
const bare = visit(document, { StringValue: (node, key) => (key === 'description' ? null : node) });
writeFileSync(path.join(folder, 'released.graphql'), `${print(bare)}\n`);
