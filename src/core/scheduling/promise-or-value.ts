/** A value that is there at once wherever nothing has to be waited for. */
export type PromiseOrValue<T> = T | Promise<T>;

/** What `use` makes of the value: at once if that is there. */
export function mapPromiseOrValue<T, R>(value: PromiseOrValue<T>, use: (value: T) => PromiseOrValue<R>): PromiseOrValue<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** All of them in their order: at once if all are there. */
export function allPromiseOrValues<T>(values: readonly PromiseOrValue<T>[]): PromiseOrValue<readonly T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as readonly T[]);
}
