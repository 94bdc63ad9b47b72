/** What `fairloom doctor` checks in a data folder before it is opened. */
import type {
  DataLoss,
  DataRefusal,
  DataReport,
  DataSnapshot,
} from '../../backends/file/examine.ts';
import { systemClock } from '../../base/system-clock.ts';
import { shellWord } from '../../domain/explain/suggestion.ts';
import { counted } from '../terminal/counted.ts';
import { CliError, EXIT, type ExitCode } from '../terminal/exit-code.ts';
import type { Check } from './checks.ts';

/** What the files of a data folder tell, and what to say of it. */
export interface ExaminedData {
  readonly data: DataReport;
  readonly checks: readonly Check[];
  /** Whether the folder can be opened now, so that there is more to look at. */
  readonly opens: boolean;
  /** The exit code where it may not be opened, with any verdicts of the checks. */
  readonly exitCode?: ExitCode;
}

/** Reads the files of a folder; repairs them when asked, and when something is lost. */
export async function examine(folder: string, repair: boolean): Promise<ExaminedData> {
  const { examineData, needsRepair } = await import('../../backends/file/examine.ts');
  const clock = systemClock;
  const aside = repair ? `damaged-${stampOf(clock.now())}` : undefined;
  const data = await examineData(folder, { clock, aside });
  if (data === undefined) throw new CliError(EXIT.notFound, `there is no folder ${folder}`);
  const { isIncomplete, isOpen, damage, refusal } = data;
  if (isEmpty(data)) return { data, checks: [emptyCheck(data)], opens: false };
  const hint = needsRepair(data) ? repairHint(data) : undefined;
  const refused = refusal === undefined ? undefined : REFUSED[refusal.kind];
  const checks = [
    dataCheck(data),
    ...(isIncomplete ? [copyCheck(data)] : []),
    ...problemChecks(data),
    ...snapshotChecks(data, hint),
    ...repairChecks(data),
    ...lossChecks(data, hint),
    ...(refusal === undefined ? [] : [closedCheck(refusal.text)]),
  ];
  if (refused !== undefined) return { data, checks, opens: false, exitCode: refused };
  return { data, checks, opens: !isIncomplete && (isOpen || damage.length === 0) };
}

/** As a copy of it ends that is refused; and as all that needs a backend which cannot be used. */
const REFUSED: Readonly<Record<DataRefusal['kind'], ExitCode>> = {
  silent: EXIT.refused,
  unusable: EXIT.unreachable,
};

/** Nothing but the files of a folder was looked at. */
export function closedCheck(why: string): Check {
  const text = `only the files were looked at: ${why}`;
  return { check: 'backend', verdict: 'failed', text };
}

/** To open it makes a data folder of it; to check it does not. */
function isEmpty({ isOpen, isIncomplete, segments, snapshots }: DataReport): boolean {
  return !isOpen && !isIncomplete && segments + snapshots.length === 0;
}

function emptyCheck({ folder }: DataReport): Check {
  return { check: 'data', verdict: 'warning', text: `${folder} has no data` };
}

/** `2026-11-30T07-12-00` */
function stampOf(now: number): string {
  return new Date(now).toISOString().slice(0, 19).replaceAll(':', '-');
}

function repairHint({ folder, isOpen }: DataReport): string {
  const command = `fairloom doctor --data ${shellWord(folder)} --repair`;
  return isOpen ? `stop the processes that have it open, then ${command}` : command;
}

function dataCheck({ folder, isOpen, commits, snapshots, segments, logBytes }: DataReport): Check {
  const state = snapshots.reduce((sum, { bytes }) => sum + bytes, 0);
  const parts = [
    counted(commits, 'commit'),
    `${counted(snapshots.length, 'snapshot')} of ${shownBytes(state)}`,
    `a log of ${shownBytes(logBytes)} in ${counted(segments, 'segment')}`,
  ];
  const open = isOpen ? '; another process has it open' : '';
  return { check: 'data', verdict: 'ok', text: `${folder}: ${parts.join(', ')}${open}` };
}

function copyCheck({ folder, isOpen }: DataReport): Check {
  const how = isOpen ? 'goes on' : 'was broken off';
  const text = `a copy into the folder ${how}, and is not complete: it cannot be opened`;
  const again = `fairloom copy --from <source> --to ${shellWord(folder)} --overwrite`;
  return { check: 'data', verdict: 'failed', text, ...(isOpen ? {} : { hint: again }) };
}

function snapshotChecks({ snapshots }: DataReport, repair: string | undefined): readonly Check[] {
  const hint = repair ?? 'it goes by itself once two newer ones are there';
  return snapshots.flatMap(({ problem }: DataSnapshot): readonly Check[] =>
    problem === undefined ? [] : [{ check: 'snapshots', verdict: 'warning', text: problem, hint }],
  );
}

function problemChecks({ problems = [] }: DataReport): readonly Check[] {
  const hint = 'nothing is lost, but the folder grows, and takes longer to open: look at its disk';
  return problems.map((text) => ({ check: 'snapshots', verdict: 'warning', text, hint }));
}

function repairChecks({ repair }: DataReport): readonly Check[] {
  if (repair === undefined) return [];
  const { aside, damage } = repair;
  const lost = damage.length === 0 ? 'nothing is lost' : damage.map(({ text }) => text).join('; ');
  const text = `repaired: ${lost}. All files as they were are in ${aside}`;
  return [{ check: 'repair', verdict: 'warning', text }];
}

function lossChecks({ damage, brokenOff }: DataReport, hint: string | undefined): readonly Check[] {
  if (damage.length > 0) {
    return damage.map(
      ({ text }: DataLoss): Check => ({
        ...{ check: 'commits', verdict: 'failed', text },
        ...(hint === undefined ? {} : { hint }),
      }),
    );
  }
  const end =
    brokenOff === undefined ? '' : '; one was broken off, and no call was told of it as done';
  return [{ check: 'commits', verdict: 'ok', text: `every commit is there${end}` }];
}

const STEP = 1_024;

/** `640 B`, `1.2 MiB` */
function shownBytes(bytes: number): string {
  let size = bytes;
  for (const unit of ['B', 'KiB', 'MiB']) {
    if (size < STEP) return `${unit === 'B' ? size : size.toFixed(1)} ${unit}`;
    size /= STEP;
  }
  return `${size.toFixed(1)} GiB`;
}
