/**
 * The reasons why a compiled operation gave up. The set is closed, because the reasons are labels of a metric. docs/internals/execution.md 3 explains
 * each.
 */
const bailReasons = ['null', 'leaf', 'list', 'promise', 'thrown', 'type', 'misfit', 'variants', 'size'] as const;

export type BailReason = (typeof bailReasons)[number];

/** Thrown when the data is not what compiled code expects. graphql-js then runs the whole operation. */
export class Bail extends Error {
  override readonly name = 'Bail';
  readonly reason: BailReason;

  constructor(reason: BailReason) {
    super(reason);
    this.reason = reason;
  }
}

/** One error object for each reason, made once and thrown many times. Making an error takes a stack trace, which would cost more than a row. */
export const bails = Object.fromEntries(bailReasons.map((reason) => [reason, new Bail(reason)])) as Readonly<Record<BailReason, Bail>>;
