/** Returns the sum of `amountOf` over all items. 0 for no items. */
export function sumBy<T>(items: Iterable<T>, amountOf: (item: T) => number): number {
  let sum = 0;
  for (const item of items) sum += amountOf(item);
  return sum;
}
