/** `npm run chaos`: see `options.ts` for what may be said, `report.ts` and `run-report.ts` for when it fails. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type ChaosOptions, chaosOptions, USAGE } from './options.ts';
import { runChaos } from './programme.ts';
import { complaints, render } from './report.ts';
import { runWorkflowChaos } from './run-programme.ts';
import { renderRuns, runComplaints } from './run-report.ts';
import { renderSchedulers, runSchedulerChaos } from './scheduler-programme.ts';

/** Complaints that are printed; more of the same say nothing new. */
const MOST_PRINTED = 50;

// Ended by a signal, a process would leave its children: this way it takes them along.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => process.exit(code));
}

const options = readOptions();
if (options !== undefined) await main(options);

async function main(options: ChaosOptions): Promise<void> {
  const build = fileURLToPath(new URL('../../scripts/ensure-build.ts', import.meta.url));
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', build], { stdio: 'inherit' });
  if (status !== 0) {
    process.exitCode = status ?? 1;
    return;
  }
  options.log(`seed ${options.seed}, ${options.workers} workers × ${options.slots} slots`);
  const { text, wrong } = await outcomeOf(options);
  console.log(text);
  for (const line of wrong.slice(0, MOST_PRINTED)) console.error(line);
  if (wrong.length > 0) process.exitCode = 1;
}

/** Of the tasks, or of the runs that were asked for. */
async function outcomeOf(
  options: ChaosOptions,
): Promise<{ readonly text: string; readonly wrong: readonly string[] }> {
  if (options.schedulers > 0) {
    const report = await runSchedulerChaos(options);
    return { text: renderSchedulers(report), wrong: report.wrong };
  }
  if (options.runs > 0) {
    const report = await runWorkflowChaos(options);
    return { text: renderRuns(report), wrong: runComplaints(report) };
  }
  const report = await runChaos(options);
  return { text: render(report), wrong: complaints(report) };
}

function readOptions(): ChaosOptions | undefined {
  try {
    return chaosOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}
