/** Valgrind, which counts the instructions of a server. */
import { dirname, join } from 'node:path';
import { programPath } from './programs.ts';

export interface Valgrind {
  readonly valgrind: string;
  /** Gives it commands while it runs; of the same package. */
  readonly vgdb: string;
}

export function findValgrind(): Valgrind {
  const valgrind = programPath('valgrind');
  return { valgrind, vgdb: join(dirname(valgrind), 'vgdb') };
}
