import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A program in its own process that answers questions over IPC. Disposing kills it. */
export interface Forked<Question extends object, Answer> extends Disposable {
  readonly pid: number;
  /** Sends a question and resolves with its answer. Several may be open at a time. Rejects if the program throws or ends. */
  ask(question: Question): Promise<Answer>;
  /** Resolves when the process has ended, with its exit code or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

interface Posted<Question> {
  readonly id: number;
  readonly question: Question;
}

type Reply<Answer> = { readonly id: number; readonly answer: Answer } | { readonly id: number; readonly error: string };

/** Starts the program, which must call `answerParent`. */
export function forkProgram<Question extends object, Answer>(
  file: URL,
  { args = [], nodeFlags = [] }: { readonly args?: readonly string[]; readonly nodeFlags?: readonly string[] } = {},
): Forked<Question, Answer> {
  const child = fork(fileURLToPath(file), [...args], { execArgv: [...nodeFlags], serialization: 'json' });
  const asked = new Map<number, PromiseWithResolvers<Answer>>();
  let last = 0;
  child.on('message', (reply: Reply<Answer>) => {
    const waiting = asked.get(reply.id);
    asked.delete(reply.id);
    if ('error' in reply) waiting?.reject(new Error(reply.error));
    else waiting?.resolve(reply.answer);
  });
  const ended = new Promise<number | NodeJS.Signals>((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal ?? 0)));
  void ended.then((how) => {
    for (const { reject } of asked.values()) reject(new Error(`${file.pathname} ended with ${how}`));
  });
  return {
    pid: child.pid ?? 0,
    ended,
    ask: (question) => {
      const answer = Promise.withResolvers<Answer>();
      last += 1;
      asked.set(last, answer);
      child.send({ id: last, question } satisfies Posted<Question>, (error) => {
        if (error !== null) answer.reject(error);
      });
      return answer.promise;
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}

/** Answers the questions of the parent process. Ends this process when the parent has gone. */
export function answerParent<Question, Answer>(answer: (question: Question) => Promise<Answer>): void {
  const reply = (text: Reply<Answer>) => void process.send?.(text);
  process.on('message', ({ id, question }: Posted<Question>) => {
    answer(question).then(
      (given) => reply({ id, answer: given }),
      (error: unknown) => reply({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
}
