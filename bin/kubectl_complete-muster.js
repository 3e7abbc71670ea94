#!/usr/bin/env node
// kubectl runs this program to complete `kubectl muster …`: it prints what `muster __complete …` prints.
process.argv.splice(2, 0, '__complete');
await import('./muster.js');
