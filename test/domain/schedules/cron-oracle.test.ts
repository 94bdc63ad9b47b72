/** A share of `npm run cron-oracle`: zones of every kind, some changes of each. */
import { expect, it } from 'vitest';
import { compareZone, nothingFound } from '../../cron/compare.ts';
import { PATTERNS } from '../../cron/patterns.ts';

/** With a gap at midnight, half an hour, two hours, in Ramadan, in the south, for the last time. */
const ZONES = [
  ...['America/New_York', 'Europe/Rome', 'Australia/Lord_Howe', 'America/Havana', 'Africa/Cairo'],
  ...['Asia/Beirut', 'Africa/Casablanca', 'Antarctica/Troll', 'America/Mexico_City', 'Asia/Tehran'],
];

/** Every so many changes of a zone; both kinds come by, since the number is odd. */
const EVERY = 11;

it('agrees with an oracle that walks through Intl minute by minute', () => {
  expect(PATTERNS).toHaveLength(60);
  const found = nothingFound();
  for (const zone of ZONES) compareZone(zone, found, EVERY);
  expect(found.mismatches).toEqual([]);
  expect(found.changes).toBeGreaterThan(15);
  expect(found.comparisons).toBeGreaterThan(5_000);
});
