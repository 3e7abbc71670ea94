#!/usr/bin/env node
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

// Runs on the Node that a machine has: only syntax and functions of Node 20, and no build.

/** The oldest Node that knows all that the rest is written in. */
const leastMajor = 24;

/** Of a command line that cannot be served, as in `exitCodes`. */
const refused = 2;

/** The source in a checkout, which Node 24 reads too: `dist` there may be an old build. An installed package has only `dist`. */
const main = [new URL('../src/main.ts', import.meta.url), new URL('../dist/main.js', import.meta.url)].find(existsSync);

if (Number.parseInt(process.versions.node, 10) >= leastMajor) {
  keepCompiled();
  await import(main.href);
} else {
  const runtime = runtimeOfPackages();
  if (runtime === undefined) refuse();
  else runBy(runtime);
}

/** The Node that an optional dependency has brought for this platform, wherever npm has put it; undefined if there is none. */
function runtimeOfPackages() {
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
      // It was not installed: optional dependencies are not where they cannot run.
    }
  }
  return undefined;
}

/**
 * Keeps the compiled modules for the next start, in a folder of this user. The default folder of Node is below /tmp, where other users can
 * plant code. A folder that cannot be written changes nothing, and `NODE_DISABLE_COMPILE_CACHE=1` turns the cache off.
 */
function keepCompiled() {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  try {
    const caches = XDG_CACHE_HOME || (process.platform === 'win32' && LOCALAPPDATA) || path.join(os.homedir(), '.cache');
    module.enableCompileCache(path.join(caches, 'muster', 'compiled'));
  } catch {
    // A user without a home starts as before.
  }
}

/** Runs this program by that Node, as if it were this process: it has its terminal, its signals and its end. */
function runBy(runtime) {
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
  process.stderr.write(`muster needs Node ${leastMajor} or newer, this is ${process.version}\n`);
  process.exitCode = refused;
}
