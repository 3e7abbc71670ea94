import type { Command as Commander } from 'commander';
import { nearestWord } from '../../core/nearest-word.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import { alternativeTo } from './kubectl-commands.ts';

/**
 * Returns the arguments with the command moved to the front, because flags may precede the command, as in kubectl. Returns the arguments unchanged if
 * they contain no command, or if an unknown flag precedes it.
 *
 * @param program The program with all its commands.
 * @throws {CommandFailure} if the first word that belongs to no flag is not a command.
 */
export function withCommandFirst(args: readonly string[], { commands }: Commander): readonly string[] {
  const names = [...commands.flatMap((command) => [command.name(), ...command.aliases()]), 'help'];
  const at = firstWord(args, { names, flags: flagsOf(commands) });
  const word = at === undefined ? undefined : args[at];
  if (at === undefined || word === undefined) return args;
  if (names.includes(word)) return [word, ...args.slice(0, at), ...args.slice(at + 1)];
  const near = nearestWord(word, names);
  const hint = alternativeTo(word) ?? (near === undefined ? `expected one of ${names.join(', ')}` : `did you mean ${near}?`);
  throw new CommandFailure(exitCodes.refused, `there is no command ${word}: ${hint}`);
}

/** The commands and flags of the program. */
interface KnownWords {
  /** Names and aliases of the commands. */
  readonly names: readonly string[];
  readonly flags: ReadonlyMap<string, Arity>;
}

/** Whether a flag takes a value. `either`: it takes one in some commands but not in others. */
type Arity = 'none' | 'value' | 'either';

/**
 * Returns the index of the first word that is no flag and no value of a flag. Undefined if there is no such word, or if an unknown flag
 * precedes it, because the word may be the value of that flag.
 */
function firstWord(args: readonly string[], { names, flags }: KnownWords): number | undefined {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (!arg.startsWith('-')) return at;
    const [name = '', value] = arg.startsWith('--') ? arg.split(/=(.*)/s) : [arg.slice(0, 2), arg.slice(2) || undefined];
    const arity = flags.get(name);
    if (arity === undefined) return undefined;
    const takesNextWord = arity === 'value' || (arity === 'either' && !names.includes(args[at + 1] ?? ''));
    if (takesNextWord && value === undefined) at++;
  }
  return undefined;
}

/** Returns the arity of the flags of all commands. The keys are the short and the long names, such as `-n` and `--namespace`. */
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

/** Replaces a `--dry-run` without value by `--dry-run=server`. As in kubectl, a value follows only after `=`, never as the next word. */
export function withDryRunValues(args: readonly string[]): readonly string[] {
  return args.map((arg) => (arg === '--dry-run' ? '--dry-run=server' : arg));
}
