import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { canonicalJson } from '../../../src/core/json/canonical-json.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { parseResourceVersion } from '../../../src/core/names.ts';
import { documentOf, inputOf } from '../../../src/propagate/model/input-spec.ts';
import type { Propagation } from '../../../src/propagate/model/propagation.ts';
import type { PropagationInput } from '../../../src/propagate/model/propagations.ts';
import { type PropagationSpec, parseSpec, printSpec } from '../../../src/propagate/model/spec.ts';
import { spec } from '../../../src/propagate/model/spec-definition.ts';
import { anyDocument, rightDocument } from './arbitrary-document.ts';

function parsed(document: JsonObject): PropagationSpec {
  const read = parseSpec(document);
  if ('problems' in read) throw new Error(`expected a spec, got ${JSON.stringify(read.problems)}`);
  return read;
}

function propagationOf(document: JsonObject): Propagation {
  const version = parseResourceVersion('1');
  if (version === undefined) throw new Error('expected a version');
  const metadata = {
    namespace: 'shop',
    name: 'web',
    uid: 'u',
    version,
    generation: 1,
    labels: { team: 'a' },
    annotations: {},
    finalizers: [],
    owners: [],
  };
  return { metadata, document, spec: parseSpec(document), status: {} };
}

describe('a random spec', () => {
  test('is parsed, printed and parsed again as the same', () => {
    fc.assert(
      fc.property(rightDocument, (document) => {
        const spec = parsed(document);
        expect(parsed(printSpec(spec))).toEqual(spec);
      }),
      { numRuns: 500 },
    );
  });

  test('is printed in one canonical form', () => {
    fc.assert(
      fc.property(rightDocument, (document) => {
        const printed = printSpec(parsed(document));
        const backwards = Object.fromEntries(Object.entries(document).reverse());
        expect(canonicalJson(printSpec(parsed(backwards)))).toBe(canonicalJson(printed));
        expect(JSON.stringify(printSpec(parsed(printed)))).toBe(JSON.stringify(printed));
      }),
      { numRuns: 200 },
    );
  });

  test('is turned into an input of the schema with the same spec, without the requester', () => {
    fc.assert(
      fc.property(rightDocument, (document) => {
        const { requester, ...spec } = parsed(document);
        const input = inputOf(propagationOf(document)) as unknown as PropagationInput;
        const asked = documentOf(input);
        expect([asked.namespace, asked.name, asked.labels, asked.problems]).toEqual(['shop', 'web', { team: 'a' }, []]);
        expect(parsed(asked.document)).toEqual(spec);
      }),
      { numRuns: 300 },
    );
  });

  test('is refused with the path of the problem, never with a thrown error', () => {
    fc.assert(
      fc.property(anyDocument, fc.jsonValue(), (document, nonsense) => {
        const read = parseSpec(document);
        if ('problems' in read) for (const { path, message } of read.problems) expect([path !== '', message !== '']).toEqual([true, true]);
        const wild = { ...document, placement: nonsense, overrides: nonsense, rollout: [nonsense] } as JsonObject;
        expect('problems' in parseSpec(wild)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

test('parsing gives the same result after zod has compiled the definition', () => {
  const compiled = z.compile(spec, { strict: true });
  const isRead = { right: 0, wrong: 0 };
  fc.assert(
    fc.property(fc.oneof(anyDocument, rightDocument), (document) => {
      const [plain, fast] = [spec.safeParse(document), compiled.safeParse(document)];
      expect(fast.data).toEqual(plain.data);
      expect(fast.error?.issues).toEqual(plain.error?.issues);
      isRead[plain.success ? 'right' : 'wrong']++;
    }),
    { numRuns: 300 },
  );
  expect(Math.min(isRead.right, isRead.wrong)).toBeGreaterThan(10);
});
