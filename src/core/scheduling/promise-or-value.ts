/** A value that is there at once wherever nothing has to be waited for. */
export type NowOrLater<T> = T | Promise<T>;

/** What `use` makes of the value: at once if that is there. */
export function afterwards<T, R>(value: NowOrLater<T>, use: (value: T) => NowOrLater<R>): NowOrLater<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** All of them in their order: at once if all are there. */
export function allOf<T>(values: readonly NowOrLater<T>[]): NowOrLater<readonly T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as readonly T[]);
}
