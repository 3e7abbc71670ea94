/** A value, or a promise of it. A function returns the value itself if it does not have to wait. */
export type PromiseOrValue<T> = T | Promise<T>;

/** Applies `use` to the value: at once if it is available, else when the promise resolves. */
export function mapPromiseOrValue<T, R>(value: PromiseOrValue<T>, use: (value: T) => PromiseOrValue<R>): PromiseOrValue<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** Returns all values in order: at once if all are available, else as a promise. */
export function allPromiseOrValues<T>(values: readonly PromiseOrValue<T>[]): PromiseOrValue<readonly T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as readonly T[]);
}
