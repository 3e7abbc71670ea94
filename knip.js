const isProduction = process.argv.includes('--production');

/**
 * `knip` reports files, exports, types and dependencies that nothing uses. `knip --production` reports what of `src` only tests use.
 * In the second run an export that its own file uses is fine: a test may check one step of it.
 *
 * @type {import('knip').KnipConfig}
 */
export default {
  entry: [
    'src/main.ts!',
    'scripts/*.ts',
    'test/bench/{bench,programs/**/*,store-hold}.ts',
    'test/execution/oracle.ts',
    'test/schedules/schedules.ts',
    'test/soak/{soak,rolling,programs/*}.ts',
    'test/support/execution/repeated-query.ts',
  ],
  project: ['bin/**/*.js!', 'src/**/*.{ts,tsx}!', 'scripts/**/*.ts', 'test/**/*.ts'],
  ignoreExportsUsedInFile: isProduction,
  // The scripts call biome through scripts/on-node, where knip does not look. A test imports the parser only where it is installed.
  // The code generator loads its plugin by a short name, and a test reads axe as a file.
  ignoreDependencies: ['@biomejs/biome', '@actions/workflow-parser', '@graphql-codegen/typescript-operations', 'axe-core'],
  // The bench pins its processes where the machine has it.
  ignoreBinaries: ['mkfifo', 'taskset'],
};
