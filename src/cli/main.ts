#!/usr/bin/env node
import { runCommandLine } from './program.ts';
import { EXIT } from './terminal/exit-code.ts';
import type { Shell } from './terminal/session.ts';

const shell: Shell = {
  out: process.stdout,
  err: process.stderr,
  stdin: process.stdin,
  env: process.env,
  exitCode: EXIT.ok,
};

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => process.exit(unwritten(error)));
}

void runCommandLine(process.argv.slice(2), shell).then((code) => {
  // What a user's module left running must not keep the command; what was written must get out.
  process.stdout.write('', () => {
    const { errored } = process.stdout;
    const end = errored === null ? code : unwritten(errored);
    process.stderr.write('', () => process.exit(end));
  });
});

/** A reader that has seen enough (`| head`) closes the pipe; that is no failure. A full disk is one. */
function unwritten(error: NodeJS.ErrnoException): number {
  if (error.code === 'EPIPE') return EXIT.ok;
  process.stderr.write(`fairloom: the output cannot be written: ${error.message}\n`);
  return EXIT.failed;
}
