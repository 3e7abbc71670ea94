import { subdomainPattern } from '../../../core/selectors.ts';
import { type AdmissionProblem, problemIf, quoted } from './problems.ts';

/** The syntax of names and values of labels, without their maximum length. */
const namePattern = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
/** Maximum length of the name in a label key, and of a label value. */
const maxName = 63;
/** Maximum length of the prefix of a label key. */
const maxPrefix = 253;

/**
 * Checks the key of a label or an annotation. Returns a problem for each rule that the key breaks, because Karmada reports each of them
 * (IsQualifiedName of Kubernetes): a name that is too long and has wrong characters breaks two. None if the key is valid.
 */
export function labelKeyProblems(key: string, path: string): readonly AdmissionProblem[] {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const unless = (isValid: boolean, expected: string) => problemIf(!isValid, path, `expected ${expected}, got ${quoted(key)}`);
  if (parts.length > 2) return unless(false, 'a label key with at most one slash');
  return [
    ...(prefix === undefined ? [] : unless(prefix !== '', 'a label key with a prefix before its slash')),
    ...unless((prefix ?? '').length <= maxPrefix, `a label key with a prefix of at most ${maxPrefix} characters`),
    ...unless(!prefix || subdomainPattern.test(prefix), 'a label key whose prefix is a lowercase DNS subdomain'),
    ...unless(name !== '', 'a label key with a name'),
    ...unless(name.length <= maxName, `a label key with a name of at most ${maxName} characters`),
    ...unless(
      namePattern.test(name),
      'a label key with a name of letters, digits, - _ and ., which begins and ends with a letter or digit',
    ),
  ];
}

/** Checks the value of a label. Returns a problem for each rule that the value breaks, as `labelKeyProblems` does. */
export function labelValueProblems(value: string, key: string, path: string): readonly AdmissionProblem[] {
  const problem = (isBroken: boolean, expected: string) =>
    problemIf(isBroken, path, `expected ${expected} as the value of the label ${quoted(key)}, got ${quoted(value)}`);
  return [
    ...problem(value.length > maxName, `at most ${maxName} characters`),
    ...problem(
      value !== '' && !namePattern.test(value),
      'letters, digits, - _ and ., with a letter or digit at the beginning and at the end,',
    ),
  ];
}
