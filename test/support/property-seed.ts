/**
 * Properties in this suite are checked on the same cases in every run, so that a change is judged
 * by what it changes. `FAIRLOOM_SEED` looks at others; `npm run model` does so by the thousand.
 */
import { configureGlobal } from 'fast-check';

configureGlobal({ seed: Number(process.env['FAIRLOOM_SEED'] ?? 20_261_128) });
