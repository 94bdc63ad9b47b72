/**
 * Counts the machine instructions that Redis spends on a task, and compares with the committed table.
 * Unlike time, counts are the same on a busy machine. Exits 1 when a row exceeds its limit.
 *
 *   npm run instructions                          every row
 *   npm run instructions -- --share               the rows that `npm test` checks
 *   npm run instructions -- --only "enqueue 20"   one row; may be given more than once
 *   npm run instructions -- --rounds 3            each row this many times: the median, and the spread
 *   npm run instructions -- --peers               BullMQ and bee-queue too
 *   npm run instructions -- --update              writes the measured counts to the table and the docs
 *   npm run instructions -- --table FILE          compares with another table
 */
import { parseArgs } from 'node:util';
import { run } from '../../scripts/run.ts';
import { writePerformancePage } from '../docs/performance-page.ts';
import { type CountedRedis, startCountedRedis } from './counted-redis.ts';
import { type Measured, measureRows } from './measure.ts';
import { measurePeers } from './peers.ts';
import { headLine, impossibleLine, measuredLine } from './render.ts';
import type { Row } from './row.ts';
import { ROWS } from './rows.ts';
import {
  isSameServer,
  judge,
  type PeerFigure,
  readTable,
  TABLE,
  toleranceOf,
  updatedTable,
  writeTable,
} from './table.ts';

const { values } = parseArgs({
  options: {
    share: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string', default: '1' },
    peers: { type: 'boolean', default: false },
    update: { type: 'boolean', default: false },
    table: { type: 'string' },
  },
});

await main();

async function main(): Promise<void> {
  const rows = chosen();
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    console.error(`--rounds takes a whole number from 1, not "${values.rounds}"`);
    process.exitCode = 2;
    return;
  }
  if (rows === undefined || !(await build())) return;
  const started = performance.now();
  const redis = await start();
  if (redis === undefined) return;
  try {
    await compare(redis, rows, rounds);
  } finally {
    await redis.stop();
  }
  console.log(`${((performance.now() - started) / 1_000).toFixed(0)} s`);
}

/** `undefined` when a program is missing, which has been reported. */
async function start(): Promise<CountedRedis | undefined> {
  try {
    return await startCountedRedis();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
    return undefined;
  }
}

async function compare(redis: CountedRedis, rows: readonly Row[], rounds: number): Promise<void> {
  const file = values.table ?? TABLE;
  const table = readTable(file);
  const { facts, valgrind } = redis;
  console.log(serverLine(redis));
  if (!isSameServer(table, facts)) {
    const { server, allocator, arch } = table.origin;
    const percent = 100 * toleranceOf(table, facts);
    console.log(
      `The table is of ${server}, ${allocator}, ${arch}. Another server needs other counts`,
    );
    console.log(`for the same work: here a row fails only above its ceiling by ${percent} %.`);
  }
  console.log(headLine());
  const measured: Measured[] = [];
  const failed: string[] = [];
  const tell = (one: Measured): void => {
    measured.push(one);
    const verdict = judge(table, one, facts);
    if (verdict.kind !== 'ok') failed.push(one.name);
    console.log(measuredLine(table, one, verdict));
  };
  for (const { name, impossible } of rows) {
    if (impossible !== undefined) console.log(impossibleLine(name, impossible));
  }
  const possible = rows.filter(({ impossible }) => impossible === undefined);
  await measureRows(redis, { rows: possible, rounds, tell });
  const peers: PeerFigure[] = [];
  if (values.peers) {
    await measurePeers(redis, (figure) => {
      peers.push(figure);
      console.log(`${figure.peer.padEnd(10)} ${figure.row.padEnd(29)} ${figure.thousand}`);
    });
  }
  if (values.update) {
    const origin = { ...facts, valgrind, at: new Date().toISOString().slice(0, 10) };
    const names = ROWS.map(({ name }) => name);
    writeTable(updatedTable(table, names, { origin, measured, peers }), file);
    if (file === TABLE) writePerformancePage();
  } else if (failed.length > 0) {
    console.log(`above what the table allows: ${failed.join('; ')}`);
    process.exitCode = 1;
  }
}

function serverLine({ facts, valgrind }: CountedRedis): string {
  return `${facts.server}, ${facts.allocator}, ${facts.arch}, valgrind ${valgrind}`;
}

/** `undefined` when a name is unknown, which has been reported. */
function chosen(): readonly Row[] | undefined {
  const { only, share } = values;
  const unknown = only.filter((name) => !ROWS.some((row) => row.name === name));
  if (unknown.length > 0) {
    const names = ROWS.map(({ name }) => name).join('; ');
    console.error(`no row "${unknown.join('", "')}"; there are ${names}`);
    process.exitCode = 2;
    return undefined;
  }
  if (only.length > 0) return ROWS.filter(({ name }) => only.includes(name));
  return share ? ROWS.filter(({ isInShare }) => isInShare === true) : ROWS;
}

/** Measures the package as it is published. */
async function build(): Promise<boolean> {
  const { code, output } = await run(['tsx', 'scripts/ensure-build.ts']);
  if (code === 0) return true;
  console.error(output);
  process.exitCode = 1;
  return false;
}
