import { type Command as Commander, InvalidArgumentError } from 'commander';
import { MusterError } from '../../../core/errors.ts';
import type { JsonObject } from '../../../core/json.ts';
import { listAt, textAt } from '../../../core/json-at.ts';
import { evaluateTemplate, printTemplateResults } from '../../../core/jsonpath/evaluate-template.ts';
import { parseJsonPathTemplate } from '../../../core/jsonpath/parse-template.ts';
import {
  type GatewayFlags,
  parseTimeoutMs,
  type RunCommand,
  type SelectionFlags,
  selectionVariables,
  withFieldSelector,
  withGatewayOptions,
  withSelection,
} from '../../arguments/gateway-options.ts';
import { parseListTargets } from '../../arguments/object-words.ts';
import { CommandFailure, exitCodes } from '../../client/command-failure.ts';
import type { Session } from '../../client/session.ts';
import { whereOfFlags } from '../../lists/field-conditions.ts';
import { type AwaitedItem, type AwaitedState, awaitObjects } from '../../waits/await-objects.ts';
import { checkSelector, type SelectorFlags } from '../../writes/selected-targets.ts';

/** The state that `--for` waits for. */
interface AwaitedCondition {
  readonly untilGone: boolean;
  readonly stateOf: (item: Pick<AwaitedItem, 'object'>) => AwaitedState;
}

type WaitFlags = GatewayFlags &
  SelectionFlags &
  Pick<SelectorFlags, 'fieldSelector'> & { readonly for: AwaitedCondition; readonly timeout: number };

const help = `
Waits until it holds for each object in each cluster of --context, else in all:
  muster wait deploy/web --for=condition=Available -n shop
  muster wait job -l batch=nightly --for=condition=Complete --timeout 10m
  muster wait pod/web-0 --for=jsonpath='{.status.phase}'=Running
  muster wait cm/settings --for=delete
Exits with 1 when the time is up, or if an object does not exist; with 3 if that is
unknown because a cluster did not answer.`;

/** Adds `muster wait`: waits for a state of objects in all clusters. */
export function addWaitCommand(program: Commander, run: RunCommand): void {
  withFieldSelector(withGatewayOptions(withSelection(program.command('wait'))))
    .description('wait until a condition holds for objects in all clusters')
    .argument('<object...>', 'KIND NAME…, KIND/NAME…, or KIND with -l')
    .allowExcessArguments(true)
    .requiredOption('--for <what>', 'condition=NAME[=VALUE], jsonpath=EXPRESSION[=VALUE], or delete', parseFor)
    .option('--timeout <duration>', 'the longest time to wait, such as 30s or 5m', parseTimeoutMs, 30_000)
    .addHelpText('after', help)
    .action((words: readonly string[], flags: WaitFlags) => {
      const targets = parseListTargets(words);
      if (flags.selector !== undefined || flags.fieldSelector !== undefined) checkSelector(words, flags);
      else if (targets.some(({ names }) => names === undefined))
        throw new CommandFailure(exitCodes.refused, 'expected names, or a selector');
      return run(flags, async (session: Session) => {
        const kinds = targets.map(({ kind }) => kind);
        const where = flags.fieldSelector === undefined ? null : await whereOfFlags(session, kinds, { fieldSelector: flags.fieldSelector });
        const { namespaces, labels } = selectionVariables(flags);
        return awaitObjects(session, {
          targets,
          namespaces,
          labels,
          where,
          ...flags.for,
          doneText: () => 'condition met',
          timeoutMs: flags.timeout,
        });
      });
    });
}

function parseFor(text: string): AwaitedCondition {
  if (text.toLowerCase() === 'delete') return { untilGone: true, stateOf: () => 'pending' };
  const [, kind, rest = ''] = /^(condition|jsonpath)=(.+)$/s.exec(text) ?? [];
  if (kind === 'condition') {
    const [, name = '', value = 'True'] = /^([^=]+)(?:=(.*))?$/s.exec(rest) ?? [];
    return { untilGone: false, stateOf: ({ object }) => (hasCondition(object, name, value) ? 'holds' : 'pending') };
  }
  if (kind === 'jsonpath') return { untilGone: false, stateOf: pathTest(rest) };
  throw new InvalidArgumentError('Expected condition=NAME[=VALUE], jsonpath=EXPRESSION[=VALUE] or delete.');
}

function hasCondition(object: JsonObject, name: string, value: string): boolean {
  return listAt(object, 'status', 'conditions').some(
    (condition) =>
      textAt(condition, 'type')?.toLowerCase() === name.toLowerCase() && textAt(condition, 'status')?.toLowerCase() === value.toLowerCase(),
  );
}

function pathTest(text: string): AwaitedCondition['stateOf'] {
  const [, braced, bare, value] = /^(?:(\{.*\})|([^=]+))(?:=(.*))?$/s.exec(text) ?? [];
  const path = braced ?? `{${bare?.startsWith('.') === true ? '' : '.'}${bare ?? ''}}`;
  try {
    const template = parseJsonPathTemplate(path);
    return ({ object }) => {
      const found = evaluateTemplate(template, object, { missingKeys: 'allowed' });
      const values = found.result === 'found' ? found.values.flat() : [];
      if (values.length === 0) return 'pending';
      return value === undefined || printTemplateResults([values]) === value.replaceAll(/^(["'])(.*)\1$/gs, '$2') ? 'holds' : 'pending';
    };
  } catch (error) {
    if (error instanceof MusterError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
