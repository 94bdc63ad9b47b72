/**
 * `fairloom/conformance`: the tests that every backend has to pass, for the author of a backend. They run in any test
 * runner that has `describe`, `it` and `expect`.
 */

export type { Expect, Harness, Matchers, OpenHarness, TestApi } from './conformance/harness.ts';
export { describeBackend } from './conformance/suite/describe-backend.ts';
