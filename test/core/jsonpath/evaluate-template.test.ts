import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { MusterError } from '../../../src/core/errors.ts';
import { type Json, parseJsonExactly } from '../../../src/core/json.ts';
import { evaluateTemplate, printTemplateResults } from '../../../src/core/jsonpath/evaluate-template.ts';
import { parseJsonPathTemplate } from '../../../src/core/jsonpath/parse-template.ts';

/** The results of client-go 0.36.3 (util/jsonpath) for the same templates and objects. `strict` is its error if missing keys are not allowed. */
interface Recorded {
  readonly data: Readonly<Record<string, Json>>;
  readonly cases: readonly {
    readonly data: string;
    readonly template: string;
    readonly text?: string;
    readonly error?: string;
    readonly refused?: true;
    readonly strict?: string;
  }[];
}

const recorded = parseJsonExactly(readFileSync(new URL('client-go-results.json', import.meta.url), 'utf8')) as unknown as Recorded;

function print(template: string, data: Json, missingKeys: 'allowed' | 'failure' = 'allowed') {
  try {
    const evaluated = evaluateTemplate(parseJsonPathTemplate(template), data, { missingKeys });
    return evaluated.result === 'found' ? { text: printTemplateResults(evaluated.values) } : { error: evaluated.message };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return { error: error.message.replace('jsonpath: ', ''), refused: true };
  }
}

describe('prints what client-go prints for', () => {
  test.each(recorded.cases)('$template on $data', ({ data, template, strict, ...expected }) => {
    const value = recorded.data[data] ?? null;
    expect(print(template, value)).toEqual(expected);
    if (strict !== undefined) expect(print(template, value, 'failure')).toEqual({ error: strict });
  });
});
