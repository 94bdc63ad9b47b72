#!/usr/bin/env node
import { runCommandLine } from './program.ts';
import type { Shell } from './session/session.ts';
import { EXIT } from './terminal/exit-code.ts';

const shell: Shell = {
  out: process.stdout,
  err: process.stderr,
  stdin: process.stdin,
  env: process.env,
  exitCode: EXIT.ok,
};

// A reader that has seen enough (`| head`) closes the pipe; that is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed);
  });
}

void runCommandLine(process.argv.slice(2), shell).then((code) => {
  // What a user's module left running must not keep the command; what was written must get out.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
});
