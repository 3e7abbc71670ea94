import { printYaml } from '../../core/json/print-yaml.ts';
import type { JsonObject } from '../../core/json.ts';
import { jsonText } from './json-text.ts';

/** Formats for programs. */
export const documentFormats = ['json', 'yaml'] as const;

export type DocumentFormat = (typeof documentFormats)[number];

/** The answers as they are, for programs: one JSON per answer, or a YAML document each. */
export function printAnswers(answers: readonly object[], format: DocumentFormat): string {
  switch (format) {
    case 'json':
      return answers.map((answer) => `${jsonText(answer, 2)}\n`).join('');
    case 'yaml':
      // What a gateway answered is JSON.
      return answers.map((answer) => printYaml(answer as JsonObject)).join('---\n');
    default:
      throw format satisfies never;
  }
}
