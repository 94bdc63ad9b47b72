import { DOMAIN_MUTANTS } from './domain-mutants.ts';
import { MEMORY_MUTANTS } from './memory-mutants.ts';
import type { Mutant } from './mutants.ts';
import { REDIS_MUTANTS } from './redis-mutants.ts';
import { RUN_MUTANTS } from './run-mutants.ts';

/** Every mutant, the cheapest to try first. */
export const ALL_MUTANTS: readonly Mutant[] = [
  ...DOMAIN_MUTANTS,
  ...MEMORY_MUTANTS,
  ...REDIS_MUTANTS,
  ...RUN_MUTANTS,
];
