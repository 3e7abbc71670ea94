import type { Command as Commander } from 'commander';
import { nearestWord } from '../../core/nearest-word.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';

/**
 * The arguments with the command in front: flags may stand before it, as with kubectl. As they came where none is named, or where a flag before
 * it is none of ours.
 *
 * @param program With all its commands.
 * @throws {CommandFailure} for a word that is no command.
 */
export function withCommandFirst(args: readonly string[], { commands }: Commander): readonly string[] {
  const names = [...commands.flatMap((command) => [command.name(), ...command.aliases()]), 'help'];
  const at = firstWord(args, { names, flags: flagsOf(commands) });
  const word = at === undefined ? undefined : args[at];
  if (at === undefined || word === undefined) return args;
  if (names.includes(word)) return [word, ...args.slice(0, at), ...args.slice(at + 1)];
  const near = nearestWord(word, names);
  const hint = near === undefined ? `expected one of ${names.join(', ')}` : `did you mean ${near}?`;
  throw new CommandFailure(exitCodes.refused, `there is no command ${word}: ${hint}`);
}

/** What may stand in front of a command. */
interface Known {
  /** Of commands. */
  readonly names: readonly string[];
  readonly flags: ReadonlyMap<string, Arity>;
}

/** `either`: some commands want a value of it, others do not. */
type Arity = 'none' | 'value' | 'either';

/** Where it is. Undefined if there is none, or none that is surely one. */
function firstWord(args: readonly string[], { names, flags }: Known): number | undefined {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (!arg.startsWith('-')) return at;
    const [name = '', value] = arg.startsWith('--') ? arg.split(/=(.*)/s) : [arg.slice(0, 2), arg.slice(2) || undefined];
    const arity = flags.get(name);
    if (arity === undefined) return undefined;
    const isTaken = arity === 'value' || (arity === 'either' && !names.includes(args[at + 1] ?? ''));
    if (isTaken && value === undefined) at++;
  }
  return undefined;
}

/** Whether they have a value, by each of their names. */
function flagsOf(commands: readonly Commander[]): ReadonlyMap<string, Arity> {
  const own = commands.flatMap((command) => command.options).map(({ short, long, required }) => ({ names: [short, long], required }));
  const arities = new Map<string, Arity>();
  for (const { names, required } of [...own, { names: ['-h', '--help'], required: false }]) {
    for (const name of names.filter((one) => one !== undefined)) {
      const arity = required ? 'value' : 'none';
      arities.set(name, (arities.get(name) ?? arity) === arity ? arity : 'either');
    }
  }
  return arities;
}
