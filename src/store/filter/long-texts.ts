import type { Json } from '../../core/json.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { ValueTest } from './comparison.ts';
import type { ReadCost, TextTester } from './path-values.ts';

/** Minimum length of a long text, in characters. Shorter texts are compared in a few microseconds. */
const longText = 32 << 10;

/** Characters of long texts that one attempt compares, which takes 1 to 2 ms. A single text may be longer. */
const charsAtOnce = 1 << 20;

/** Thrown to end an attempt, and caught in `divideIntoAttempts`. */
const interruption = new Error('the attempt has compared enough');

/**
 * Remembers the results of a filter on the long texts of one object.
 *
 * A hundred conditions on a text of 1 MB take 100 ms, so a filter can be interrupted between two of them. The next attempt begins again,
 * and reuses these results.
 */
class LongTexts implements TextTester {
  readonly #verdicts = new Map<ValueTest, Map<string, boolean>>();
  #chars = 0;

  /**
   * True if the value passes the test. Results for long texts are remembered. Throws `interruption` before a long text if the attempt has
   * compared enough.
   */
  passes(test: ValueTest, value: Json): boolean {
    if (typeof value !== 'string' || value.length < longText) return test(value);
    const ofTest = this.#verdicts.get(test) ?? new Map<string, boolean>();
    const known = ofTest.get(value);
    if (known !== undefined) return known;
    if (this.#chars > 0 && this.#chars + value.length > charsAtOnce) throw interruption;
    this.#chars += value.length;
    const verdict = test(value);
    this.#verdicts.set(test, ofTest.set(value, verdict));
    return verdict;
  }

  beginAttempt(): void {
    this.#chars = 0;
  }

  forget(): void {
    if (this.#verdicts.size > 0) this.#verdicts.clear();
  }
}

/**
 * Divides a predicate into attempts of a few milliseconds. The returned function returns undefined if it needs another attempt with the
 * same object; the caller yields before that attempt. Values are counted once, whatever the number of attempts.
 */
export function divideIntoAttempts(
  passes: (object: KubernetesObject) => boolean,
  read: ReadCost,
): (object: KubernetesObject) => boolean | undefined {
  const texts = new LongTexts();
  return (object) => {
    const before = read.values;
    texts.beginAttempt();
    read.texts = texts;
    try {
      const verdict = passes(object);
      texts.forget();
      return verdict;
    } catch (error) {
      if (error !== interruption) throw error;
      read.values = before;
      return undefined;
    } finally {
      read.texts = undefined;
    }
  };
}
