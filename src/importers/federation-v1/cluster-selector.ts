import type { JsonObject } from '../../core/json.ts';
import { isLabelKey, isLabelValue, type LabelRequirement, matchesLabelSelector } from '../../core/selectors.ts';
import { warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import { nameListOf } from '../model/name-list.ts';
import { catchRefusedJson, type GoJson, goFieldsOf, goListIn, goTextIn, RefusedJson, tryParseGoJson } from './go-json.ts';

/**
 * The result of reading the annotation `cluster-selector`: its selector, converted to a LabelSelector, or the reason why Federation v1 would
 * not place the object. `path` is the path of the wrong field in the JSON.
 */
export type SelectorRead =
  | {
      readonly result: 'read';
      /** The LabelSelector. Undefined: a requirement of the annotation matches no cluster, so no cluster is selected. */
      readonly selector: JsonObject | undefined;
      readonly notes: readonly ImportNote[];
    }
  | { readonly result: 'refused'; readonly path: string; readonly message: string };

interface SelectorContext {
  /** The path of the annotation in the input, for notes. */
  readonly path: string;
  /** The labels of each cluster. */
  readonly labels: readonly Readonly<Record<string, string>>[];
}

/**
 * Reads the annotation `federation.alpha.kubernetes.io/cluster-selector`: a JSON list of requirements. Refuses what Federation v1 refuses
 * (labels.NewRequirement).
 *
 * A LabelSelector cannot compare numbers. So `gt` and `lt` become the values that the clusters have now, with a warning. A cluster that gets
 * another value later is not selected.
 */
export function readClusterSelector(annotation: string, { path, labels }: SelectorContext): SelectorRead {
  return catchRefusedJson((): SelectorRead => {
    const written = tryParseGoJson(annotation);
    if (written === undefined) throw new RefusedJson('', 'a JSON list of requirements');
    const unknownFields: string[] = [];
    const requirements = goListIn([written], '').map((value, index) => requirementOf(value, { path: `[${index}]`, unknownFields }));
    const converted = requirements.map((requirement) => convertedRequirement(requirement, { path, labels }));
    const isImpossible = converted.some(({ expression }) => expression === undefined);
    return {
      result: 'read',
      selector: isImpossible
        ? undefined
        : { matchExpressions: converted.flatMap(({ expression }) => (expression === undefined ? [] : [expression])) },
      notes: [
        ...converted.flatMap(({ notes }) => notes),
        ...unknownFields.map((field) =>
          warningNote('UNKNOWN_FIELD', `${path}${field}`, `${field} is no known field here, and has no effect`),
        ),
      ],
    };
  });
}

/** The number of values that an operator needs. */
type ValueCount = 'none' | 'one' | 'some' | 'integer';

const valueCounts: Readonly<Record<ValueCount, string>> = {
  none: 'no values',
  one: 'one value',
  some: 'at least one value',
  integer: 'one integer of 64 bits',
};

interface Operator {
  /** The operator of a LabelSelector, or of a `LabelRequirement` that compares numbers. */
  readonly name: 'DoesNotExist' | 'Exists' | 'In' | 'NotIn' | 'above' | 'below';
  readonly values: ValueCount;
}

const operators: ReadonlyMap<string, Operator> = new Map(
  (
    [
      [['!', 'DoesNotExist'], { name: 'DoesNotExist', values: 'none' }],
      [['exists', 'Exists'], { name: 'Exists', values: 'none' }],
      [['=', '=='], { name: 'In', values: 'one' }],
      [['in', 'In'], { name: 'In', values: 'some' }],
      [['!='], { name: 'NotIn', values: 'one' }],
      [['notin', 'NotIn'], { name: 'NotIn', values: 'some' }],
      [['gt', 'Gt', '>'], { name: 'above', values: 'integer' }],
      [['lt', 'Lt', '<'], { name: 'below', values: 'integer' }],
    ] satisfies readonly (readonly [readonly string[], Operator])[]
  ).flatMap(([spellings, operator]) => spellings.map((spelling): [string, Operator] => [spelling, operator])),
);

interface Requirement {
  readonly key: string;
  readonly operator: Operator['name'];
  readonly spelling: string;
  readonly values: readonly string[];
  readonly path: string;
}

function requirementOf(value: GoJson, place: { readonly path: string; readonly unknownFields: string[] }): Requirement {
  const { path } = place;
  const fields = goFieldsOf(value, ['key', 'operator', 'values'], place);
  const key = goTextIn(fields.key, `${path}.key`);
  const spelling = goTextIn(fields.operator, `${path}.operator`);
  const values = goListIn(fields.values, `${path}.values`).map((one, index) => goTextIn([one], `${path}.values[${index}]`));
  if (!isLabelKey(key)) throw new RefusedJson(`${path}.key`, `the key of a label, got ${JSON.stringify(key)}`);
  const operator = operators.get(spelling);
  if (operator === undefined) {
    throw new RefusedJson(`${path}.operator`, `one of ${[...operators.keys()].join(' ')}, got ${JSON.stringify(spelling)}`);
  }
  const got = `${values.length === 0 ? 'none' : values.map((one) => JSON.stringify(one)).join(', ')}`;
  if (!hasCount(values, operator.values)) {
    throw new RefusedJson(`${path}.values`, `${valueCounts[operator.values]} with the operator ${spelling}, got ${got}`);
  }
  if (!values.every(isLabelValue)) throw new RefusedJson(`${path}.values`, `values of a label, got ${got}`);
  return { key, operator: operator.name, spelling, values, path };
}

const maxInteger = 2n ** 63n - 1n;

function hasCount(values: readonly string[], count: ValueCount): boolean {
  const [first] = values;
  switch (count) {
    case 'none':
      return values.length === 0;
    case 'one':
      return values.length === 1;
    case 'some':
      return values.length > 0;
    case 'integer':
      // A sign is refused, because a label value cannot begin with one.
      return first !== undefined && values.length === 1 && /^\d+$/.test(first) && BigInt(first) <= maxInteger;
    default:
      return count satisfies never;
  }
}

interface ConvertedRequirement {
  /** The entry of `matchExpressions`. Undefined: no cluster has a label that matches now. */
  readonly expression: JsonObject | undefined;
  readonly notes: readonly ImportNote[];
}

function convertedRequirement(
  { key, operator, spelling, values, path: at }: Requirement,
  { path, labels }: SelectorContext,
): ConvertedRequirement {
  if (operator !== 'above' && operator !== 'below') return { expression: { key, operator, values: [...values] }, notes: [] };
  const requirement: LabelRequirement = { operator, key, bound: BigInt(values[0] ?? 0) };
  const matching = labels.filter((one) => matchesLabelSelector({ requirements: [requirement] }, one)).map((one) => one[key] ?? '');
  const found = [...new Set(matching)].toSorted();
  const outcome =
    found.length === 0
      ? 'no cluster has such a label, so none is selected'
      : `the clusters have ${nameListOf(found)} now, so these are selected`;
  const message = `a Propagation cannot compare numbers as ${key} ${spelling} ${values[0]} does: ${outcome}`;
  return {
    expression: found.length === 0 ? undefined : { key, operator: 'In', values: found },
    notes: [warningNote('UNSUPPORTED', `${path}${at}.operator`, message)],
  };
}
