import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../src/core/json.ts';
import { runAtOnce } from '../../src/core/scheduling/operation-scheduler.ts';
import { parseJsonInSteps } from '../../src/operations/json-steps.ts';
import { jsonText } from '../support/arbitrary-json.ts';

const inSteps = (text: string, pieceLength: number) => runAtOnce(parseJsonInSteps(text, { pieceLength, onPiece: () => undefined }));

function outcomeOf(parse: () => unknown): unknown {
  try {
    return { value: JSON.stringify(parse()) };
  } catch (error) {
    return error instanceof SyntaxError ? 'SyntaxError' : error;
  }
}

test('parses every text to the value of parseJson, whatever the length of a piece', () => {
  fc.assert(
    fc.property(jsonText, fc.integer({ min: 1, max: 40 }), (text, pieceLength) => {
      expect(inSteps(text, pieceLength)).toEqual(parseJson(text));
      expect(outcomeOf(() => inSteps(text, pieceLength))).toEqual(outcomeOf(() => parseJson(text)));
    }),
    { numRuns: 500 },
  );
});

test('refuses every text that parseJson refuses', () => {
  const damage = fc.record({ at: fc.nat(), text: fc.constantFrom('', ',', ' ', '[', ']', '{', '}', ':', '"', '\\', '0', 'x') });
  fc.assert(
    fc.property(jsonText, damage, fc.integer({ min: 1, max: 20 }), (text, { at, text: added }, pieceLength) => {
      const place = at % (text.length + 1);
      for (const changed of [text.slice(0, place) + added + text.slice(place), text.slice(0, place) + added + text.slice(place + 1)])
        expect(
          outcomeOf(() => inSteps(changed, pieceLength)),
          changed,
        ).toEqual(outcomeOf(() => parseJson(changed)));
    }),
    { numRuns: 2_000 },
  );
});

test.each(['[   ]', '{   }', ' [ [   ] , 1 ] '])('parses %s', (text) => expect(inSteps(text, 2)).toEqual(parseJson(text)));

test.each([
  '[1,]',
  '[1, ]',
  '[,1]',
  '[1,,2]',
  '{"a":1,}',
  '[[1,2,3],]',
  '[[1,2,3] 4]',
  '{"a":[1,2,3],"b"}',
  '{"a" [1,2,3]}',
  '{"a":-[1,2,3]}',
  '{"a":1[1,2,3]}',
  '[1}',
  '[[1,2,3]]x',
  '["a]',
])('refuses %s', (text) => expect(() => inSteps(text, 2)).toThrow(SyntaxError));

test('keeps a key __proto__ as an own property, and the last of equal keys', () => {
  const value = inSteps('{"__proto__":[1,2,3],"a":[1,2,3],"a":2}', 2) as object;
  expect(Object.keys(value)).toEqual(['__proto__', 'a']);
  expect(JSON.stringify(value)).toBe('{"__proto__":[1,2,3],"a":2}');
});
