#!/usr/bin/env node
// This file runs without a build on the Node of the machine, so it uses only the syntax and functions of Node 20. Functions that call
// `process.getBuiltinModule` run only on Node `minMajor` or newer. Unlike an `import`, this call loads only the exports that are used, so a start is faster.

/** The oldest major version of Node that can run the program. */
const minMajor = 24;

/** The exit code of a command line that cannot be served, as in `exitCodes`. */
const refused = 2;

if (Number.parseInt(process.versions.node, 10) >= minMajor) {
  keepCompiled();
  await import(main());
} else {
  const runtime = await runtimeOfPackages();
  if (runtime === undefined) refuse();
  else await runWith(runtime);
}

/** Returns the URL of the program. A checkout may have no build, or an older one: then it runs its source. An installed package has only `dist`. */
function main() {
  const [fs, path, url] = ['node:fs', 'node:path', 'node:url'].map((name) => process.getBuiltinModule(name));
  const [built, source] = ['../dist/main.js', '../src/main.ts'].map((file) => path.join(import.meta.dirname, file));
  const isBuilt = !fs.existsSync(source) || isNewer(built, path.dirname(source));
  return url.pathToFileURL(isBuilt ? built : source).href;

  function isNewer(file, folder) {
    const builtMs = fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const isOlder = (name) => fs.statSync(name).mtimeMs < builtMs;
    // A folder changes when a file comes or goes. The console has a build of its own.
    const areOlder = (parent) =>
      isOlder(parent) &&
      fs.readdirSync(parent, { withFileTypes: true }).every((entry) => {
        const name = path.join(parent, entry.name);
        return entry.isDirectory() ? entry.name === 'console' || areOlder(name) : isOlder(name);
      });
    return areOlder(folder);
  }
}

/** Returns the path of the Node from the optional dependency for this platform, in any folder where npm installs it. Undefined if there is none. */
async function runtimeOfPackages() {
  const { spawnSync } = await import('node:child_process');
  const { createRequire } = await import('node:module');
  const path = await import('node:path');
  const require = createRequire(import.meta.url);
  const { optionalDependencies = {} } = require('../package.json');
  const platform = `-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  for (const name of Object.keys(optionalDependencies).filter((one) => one.endsWith(platform))) {
    try {
      const description = require.resolve(`${name}/package.json`);
      const { bin } = require(description);
      const runtime = path.join(path.dirname(description), bin.node);
      // One for another C library or another platform cannot run here.
      if (spawnSync(runtime, ['--version']).status === 0) return runtime;
    } catch {
      // npm does not install an optional dependency where it cannot run.
    }
  }
  return undefined;
}

/**
 * Keeps the compiled modules for the next start, in a folder of this user. The default folder of Node is below /tmp, where other users can
 * plant code. A folder that cannot be written changes nothing, and `NODE_DISABLE_COMPILE_CACHE=1` turns the cache off.
 */
function keepCompiled() {
  const [module, os, path] = ['node:module', 'node:os', 'node:path'].map((name) => process.getBuiltinModule(name));
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  try {
    const caches = XDG_CACHE_HOME || (process.platform === 'win32' && LOCALAPPDATA) || path.join(os.homedir(), '.cache');
    module.enableCompileCache(path.join(caches, 'muster', 'compiled'));
  } catch {
    // A user without a home starts as before.
  }
}

/** Runs this program by the other Node, with the terminal of this process. Passes signals on, and ends with the same exit code or signal. */
async function runWith(runtime) {
  const { spawn } = await import('node:child_process');
  const { fileURLToPath } = await import('node:url');
  const child = spawn(runtime, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  const passOn = (signal) => void child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
  for (const signal of signals) process.on(signal, passOn);
  child.on('exit', (code, signal) => {
    for (const one of signals) process.off(one, passOn);
    if (signal === null) process.exitCode = code ?? refused;
    else process.kill(process.pid, signal);
  });
}

function refuse() {
  process.stderr.write(`muster needs Node ${minMajor} or newer, this is ${process.version}\n`);
  process.exitCode = refused;
}
