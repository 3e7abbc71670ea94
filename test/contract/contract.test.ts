import { afterAll, beforeAll, describe, test } from 'vitest';
import { applyCases } from './apply-cases.ts';
import { type ContractServer, contractServers } from './contract-server.ts';
import { customResourceCases } from './custom-resource-cases.ts';
import { customWriteCases } from './custom-write-cases.ts';
import { discoveryCases } from './discovery-cases.ts';
import { historyCases } from './history-cases.ts';
import { listCases } from './list-cases.ts';
import { logCases } from './log-cases.ts';
import { managerCases } from './manager-cases.ts';
import { patchCases } from './patch-cases.ts';
import { type DeclareCase, openPlace } from './place.ts';
import { scaleCases } from './scale-cases.ts';
import { transportCases } from './transport-cases.ts';
import { watchCases } from './watch-cases.ts';
import { writeCases } from './write-cases.ts';

// The same requests to the embedded server and to the real one. Where they differ, the real one is right.
for (const kind of contractServers) {
  describe.skipIf(!kind.available)(kind.title, () => {
    let server: ContractServer;
    beforeAll(async () => {
      server = await kind.start();
    });
    afterAll(() => server[Symbol.asyncDispose]());

    const alone: DeclareCase = (name, run) => test(name, async () => run(await openPlace(server)));
    const sideBySide: DeclareCase = (name, run) => test.concurrent(name, async () => run(await openPlace(server)));

    describe('lists', () => listCases(sideBySide));
    describe('watches', () => watchCases(sideBySide));
    describe('writes', () => writeCases(sideBySide));
    describe('patches', () => patchCases(sideBySide));
    describe('applies', () => applyCases(sideBySide));
    describe('managers', () => managerCases(sideBySide));
    describe('scales', () => scaleCases(sideBySide));
    describe('logs', () => logCases(sideBySide));
    describe('transport', () => transportCases(sideBySide));
    // These cases change served kinds or the history for all other cases.
    describe('discovery', () => discoveryCases(alone));
    describe('custom resources', () => customResourceCases(alone));
    describe('writes of custom resources', () => customWriteCases(alone));
    describe('history', () => historyCases(alone));
  });
}
