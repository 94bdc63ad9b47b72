/** How the suite writes its tests: titles with what they run. */
import type { Retention } from '../domain/fairness/settings.ts';
import type { Expect } from './harness.ts';
import type { Kit } from './kit.ts';

/** Does something to a backend and expects what comes of it. */
export type Run = (kit: Kit, expect: Expect) => Promise<void>;

/** A test that needs another retention than the default one. */
export interface Case {
  readonly retention: Partial<Retention>;
  readonly run: Run;
}

/** Title → test. */
export type Cases = Readonly<Record<string, Run | Case>>;

/** A case on a backend that keeps ended tasks by this retention. */
export function retaining(retention: Partial<Retention>, run: Run): Case {
  return { retention, run };
}
