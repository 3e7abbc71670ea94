import type { BenchCase } from './bench-case.ts';
import { accessCase } from './cases/access-case.ts';
import { completionCase, getCase } from './cases/command-case.ts';
import { consoleCases } from './cases/console-case.ts';
import { costlyCase } from './cases/costly-case.ts';
import { fanOutCases } from './cases/fan-out-case.ts';
import { firstAnswerCase } from './cases/first-answer-case.ts';
import { helloCase, listToBytesCase } from './cases/front-case.ts';
import { importCase } from './cases/import-case.ts';
import { groupsCase, indexCase } from './cases/index-case.ts';
import { joiningCase } from './cases/joining-case.ts';
import { kubectlCase } from './cases/kubectl-case.ts';
import { mirrorCase } from './cases/mirror-case.ts';
import { intentsAtRestCase, planCase, propagateCases, realMoveCase, realPropagateCase } from './cases/propagate-case.ts';
import { realCase } from './cases/real-case.ts';
import { relationsCase } from './cases/relations-case.ts';
import { relistCase } from './cases/relist-case.ts';
import { restCase } from './cases/rest-case.ts';
import { sizingCase } from './cases/sizing-case.ts';
import { firstStateCase, idleCase, latencyCase, realLatencyCase, stalledCase } from './cases/streams-case.ts';
import { tracingCase } from './cases/tracing-case.ts';
import { watchesCase } from './cases/watches-case.ts';

/** Path of the kubeconfig of three complete clusters. Without it, the cases that need them are left out. */
const fleet = process.env.MUSTER_BENCH_FLEET;

/** All cases, in the order in which they run. */
export const cases: readonly BenchCase[] = [
  mirrorCase,
  relistCase,
  watchesCase,
  firstAnswerCase,
  indexCase,
  groupsCase,
  costlyCase,
  helloCase,
  listToBytesCase,
  tracingCase,
  accessCase,
  relationsCase,
  importCase,
  ...fanOutCases,
  idleCase,
  stalledCase,
  firstStateCase,
  latencyCase,
  restCase,
  joiningCase,
  sizingCase,
  ...consoleCases,
  completionCase,
  planCase,
  ...propagateCases,
  intentsAtRestCase,
  realCase,
  kubectlCase,
  getCase,
  realLatencyCase,
  ...(fleet === undefined ? [] : [realPropagateCase(fleet), realMoveCase(fleet)]),
];
