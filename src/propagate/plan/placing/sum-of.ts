/** The sum of what `amountOf` says of each; 0 for none. */
export function sumBy<T>(items: Iterable<T>, amountOf: (item: T) => number): number {
  let sum = 0;
  for (const item of items) sum += amountOf(item);
  return sum;
}
