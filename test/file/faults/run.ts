/**
 * Every fault at every operation of the disk, over the whole backend of a data folder, by hand and at night:
 *
 *   npm run faults -- --seed 7 --histories 12
 *
 * `--stride 10` strikes every tenth operation. A failure names the seed of its history, which runs alone with `--seed`
 * and `--histories 1`. Prints what was done, and exits 1 when something was lost, invented, refused as damaged, answered
 * otherwise than in memory, stuck, or refused without a code of the catalogue.
 */
import { parseArgs } from 'node:util';
import { strikeFull } from './full.ts';
import { strike, THOROUGH } from './programme.ts';
import { Tally, WRONGS } from './tally.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '7' },
    histories: { type: 'string', default: '4' },
    stride: { type: 'string', default: '1' },
  },
});

process.exitCode = await main();

async function main(): Promise<number> {
  const [seed, histories, stride] = [values.seed, values.histories, values.stride].map(Number);
  if (
    !isCount(histories) ||
    !isCount(stride) ||
    seed === undefined ||
    !Number.isSafeInteger(seed)
  ) {
    console.error('--seed, --histories and --stride are whole numbers');
    return 2;
  }
  const started = performance.now();
  const tally = new Tally();
  for (let nth = 0; nth < histories; nth++) {
    const [before, wrong] = [tally.operations, tally.findings.length];
    await strike(seed + nth, { ...THOROUGH, stride }, tally);
    await strikeFull(seed + nth, { stride, crashes: 2 }, tally);
    await strikeFull(seed + nth, { stride, crashes: 2, hasLargeResults: true }, tally);
    const findings = tally.findings.slice(wrong);
    for (const { kind, text } of findings) console.error(`${kind}: ${text}`);
    const operations = tally.operations - before;
    console.log(`seed ${seed + nth}: ${operations} operations, ${findings.length} wrong`);
  }
  print(tally, (performance.now() - started) / 1000);
  return tally.findings.length > 0 ? 1 : 0;
}

function isCount(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value > 0;
}

function print(tally: Tally, seconds: number): void {
  const { histories, calls, operations, snapshots, segments, recoveries } = tally;
  console.log(
    `${histories} histories in ${seconds.toFixed(0)} s: ${operations} operations, ${segments} segments, ${snapshots.made} snapshots, ${snapshots.forgotten} of them forgotten; ${calls} calls, ${recoveries} recoveries`,
  );
  console.log(`faults: ${rows(tally.faults)}`);
  console.log(`refused: ${rows(tally.refusals)}`);
  console.log(WRONGS.map((kind) => `${kind} ${tally.wrongs(kind)}`).join(', '));
}

function rows(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, times]) => `${name} ${times}`).join(', ');
}
