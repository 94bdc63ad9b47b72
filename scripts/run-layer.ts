/** Runs one layer of tests in vitest and counts what passed and failed. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ran, run } from './run.ts';

/** What a layer came to. */
export interface LayerResult {
  readonly passed: number;
  /** Failed tests, files that did not load, and 1 for a run that failed without a failed test. */
  readonly failed: number;
  readonly skipped: number;
  /** Tests that passed at the second try, each with why the first one failed. */
  readonly again: readonly string[];
  readonly ms: number;
  readonly output: string;
}

/** Of a test that passed, messages are those of a try before. */
interface TestResult {
  readonly status: string;
  readonly fullName: string;
  readonly failureMessages: readonly string[];
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly TestResult[];
  }[];
}

export async function runLayer(name: string): Promise<LayerResult> {
  const folder = mkdtempSync(join(tmpdir(), 'fairloom-report-'));
  try {
    const file = join(folder, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const ran = await run(['vitest', 'run', '--project', name, ...reporters]);
    return result(ran, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function result({ code, ms, output }: Ran, file: string): LayerResult {
  if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0, again: [], ms, output };
  const report: Report = JSON.parse(readFileSync(file, 'utf8'));
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  ).length;
  const failed = report.numFailedTests + unloaded;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped: report.numPendingTests,
    again: report.testResults.flatMap(({ assertionResults }) =>
      assertionResults.flatMap(secondTry),
    ),
    ms,
    output,
  };
}

function secondTry({ status, fullName, failureMessages }: TestResult): readonly string[] {
  const [first] = failureMessages;
  if (status !== 'passed' || first === undefined) return [];
  return [`${fullName}: ${first.split('\n')[0]}`];
}
