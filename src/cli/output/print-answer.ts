import { printYaml } from '../../core/json/print-yaml.ts';
import type { JsonObject } from '../../core/json.ts';
import { jsonText } from './json-text.ts';

/** Output formats for programs. */
export const documentFormats = ['json', 'yaml'] as const;

export type DocumentFormat = (typeof documentFormats)[number];

/** Returns whole answers as text for programs: one JSON text or one YAML document per answer. */
export function printAnswers(answers: readonly object[], format: DocumentFormat): string {
  switch (format) {
    case 'json':
      return answers.map((answer) => `${jsonText(answer, 2)}\n`).join('');
    case 'yaml':
      // The answer of a gateway is always JSON.
      return answers.map((answer) => printYaml(answer as JsonObject)).join('---\n');
    default:
      throw format satisfies never;
  }
}
