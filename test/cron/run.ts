/**
 * `npm run cron-oracle`: every pattern, every zone, every change of clocks from 2020 to 2035.
 *
 *     npm run cron-oracle                 all of it
 *     npm run cron-oracle -- --part 1/4   a quarter of the zones
 */
import { parseArgs } from 'node:util';
import { compareZone, nothingFound } from './compare.ts';
import { PATTERNS } from './patterns.ts';

const { values } = parseArgs({ options: { part: { type: 'string', default: '1/1' } } });
const [part = 1, parts = 1] = values.part.split('/').map(Number);
const zones = Intl.supportedValuesOf('timeZone').filter((_zone, at) => at % parts === part - 1);
const found = nothingFound();
const began = performance.now();
for (const zone of zones) compareZone(zone, found);
const seconds = ((performance.now() - began) / 1_000).toFixed(0);
const { changes, comparisons, mismatches } = found;
for (const mismatch of mismatches.slice(0, 20)) process.stdout.write(`${mismatch}\n`);
process.stdout.write(
  `${PATTERNS.length} patterns, ${zones.length} zones, ${changes} changes of clocks: ` +
    `${comparisons} comparisons, ${mismatches.length} mismatches, ${seconds} s\n`,
);
if (mismatches.length > 0) process.exitCode = 1;
