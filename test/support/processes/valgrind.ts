/**
 * Valgrind, which counts the instructions of a server: from the PATH, else installed by apt when we are
 * root. Otherwise one line says what to do; its tests are never skipped.
 */
import { installPackage } from './apt.ts';
import { findProgram } from './programs.ts';

export interface Valgrind {
  readonly valgrind: string;
  /** Gives it commands while it runs. */
  readonly vgdb: string;
}

/** Throws with the line to print. */
export function findValgrind(): Valgrind {
  const found = onPath() ?? (installPackage('valgrind') ? onPath() : undefined);
  if (found !== undefined) return found;
  throw new Error(
    'Counting instructions needs valgrind on the PATH: install the package "valgrind".',
  );
}

function onPath(): Valgrind | undefined {
  const valgrind = findProgram('valgrind');
  const vgdb = findProgram('vgdb');
  return valgrind === undefined || vgdb === undefined ? undefined : { valgrind, vgdb };
}
