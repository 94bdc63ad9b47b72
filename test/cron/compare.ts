/** Holds `CronTimes` to the oracle, around every change of clocks. */
import { CronTimes } from '../../src/schedules/timing/cron-times.ts';
import { type OraclePattern, PATTERNS } from './patterns.ts';
import { readPattern } from './read-pattern.ts';
import { changesOf, firesIn, type Stretch, stretchAround } from './walk.ts';

/** The years whose changes are looked at. */
const FROM = Date.UTC(2020, 0, 1);
const TO = Date.UTC(2036, 0, 1);

/** How far around a change, in ms. */
const REACH_MS = 2 * 86_400_000;

/** Slots of one pattern around one change that are compared one after the other. */
const NEAREST = 8;

/** What a comparison found. */
export interface Found {
  changes: number;
  comparisons: number;
  readonly mismatches: string[];
}

export function nothingFound(): Found {
  return { changes: 0, comparisons: 0, mismatches: [] };
}

/** Compares the zone's changes; `every` n-th of them. */
export function compareZone(zone: string, found: Found, every = 1): void {
  const subjects = PATTERNS.map((pattern) => ({
    pattern,
    times: new CronTimes(pattern.text, zone),
  }));
  for (const [index, change] of changesOf(zone, FROM, TO).entries()) {
    if (index % every !== 0) continue;
    found.changes++;
    const stretch = stretchAround(zone, change, REACH_MS);
    const fires = firesOfAll(stretch);
    for (const [at, { pattern, times }] of subjects.entries()) {
      compare({ stretch, pattern, times, fires: fires[at] ?? [] }, found);
    }
  }
}

const READ = PATTERNS.map(({ text }) => readPattern(text));

/** What the oracle said of stretches that many zones share, with the walls that it saw. */
const said = new Map<string, { readonly walls: readonly number[]; readonly fires: Fires }>();

/** Instants by pattern. */
type Fires = readonly (readonly number[])[];

/** The same walls at the same instants fire the same: asked once for all zones that have them. */
function firesOfAll(stretch: Stretch): Fires {
  const { change, walls } = stretch;
  const key = `${change} ${walls[0]} ${walls.at(-1)}`;
  const known = said.get(key);
  if (known?.walls.every((wall, at) => wall === walls[at]) === true) return known.fires;
  const fires = PATTERNS.map(({ kind }, at) => {
    const read = READ[at];
    return read === undefined ? [] : firesIn(stretch, read, kind);
  });
  said.set(key, { walls, fires });
  return fires;
}

interface Comparison {
  readonly stretch: Stretch;
  readonly pattern: OraclePattern;
  readonly times: CronTimes;
  /** What the oracle says. */
  readonly fires: readonly number[];
}

/** Asks for the next instant from the begin, from around the change, and from slot to slot. */
function compare({ stretch, pattern, times, fires }: Comparison, found: Found): void {
  const { from, change, walls, zone } = stretch;
  const end = from + (walls.length - 1) * 60_000;
  const first = fires.findIndex((fire) => fire >= change);
  const near = Math.max(0, (first < 0 ? fires.length : first) - NEAREST / 2);
  const asked = [from, change - 1_000, change, ...fires.slice(near, near + NEAREST)];
  for (const at of asked) {
    // Beyond the end of the stretch the oracle knows nothing.
    const expected = fires.find((fire) => fire > at);
    const got = times.next(at);
    found.comparisons++;
    const isRight = expected === undefined ? got === undefined || got > end : got === expected;
    if (isRight && (got === undefined || got > at)) continue;
    const text = (instant: number | undefined): string =>
      instant === undefined ? 'none' : new Date(instant).toISOString();
    found.mismatches.push(
      `${pattern.text} in ${zone} after ${text(at)}: ${text(got)}, not ${text(expected)}`,
    );
  }
}
