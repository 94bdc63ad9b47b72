export { systemClock } from './base/system-clock.ts';
export type { Clock, Timer } from './base/time.ts';
export {
  type BackendCall,
  type Fault,
  type FaultPlan,
  flakyBackend,
} from './testing/flaky-backend.ts';
export type { HandlerRun, RunFacts } from './testing/handler-runs.ts';
export { ManualClock, type ManualClockHooks } from './testing/manual-clock.ts';
export type { SpiedRun, Spy } from './testing/spy.ts';
export {
  type FailureOptions,
  InjectedFailure,
  type TestClock,
  TestLoom,
  type TestLoomOptions,
  testLoom,
} from './testing/test-loom.ts';
