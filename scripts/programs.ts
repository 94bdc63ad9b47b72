/** Installs the programs of tests that this machine lacks: `tsx scripts/programs.ts redis chromium`. */
import { PROGRAMS, type ProgramName, provide } from '../test/support/processes/programs.ts';

const names = process.argv.slice(2).filter((name): name is ProgramName => name in PROGRAMS);
try {
  provide(names);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
