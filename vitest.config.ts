import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Without these conditions two copies of graphql are loaded: "Cannot use GraphQLSchema from another module or realm".
  ssr: { resolve: { conditions: ['module-sync', 'node', 'import'] } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/cluster/report-skipped.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // One more than the two cores of a small machine: tests of real servers and clocks wait a quarter of their time.
    maxWorkers: 3,
  },
});
