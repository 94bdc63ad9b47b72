/** The rooms of src/, test/ and docs/: docs/architecture.md shows them, and none is a hall. */
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { furnish, loadRooms, renderFloorPlan } from '../../../scripts/docs/floor-plan.ts';
import { read, trackedFiles } from '../../support/files.ts';

/** More files than this side by side, and nobody finds one by looking. */
const MOST_FILES = 25;

/** A numbered list of decisions grows by its nature, and is read by its index. */
const LISTS: ReadonlySet<string> = new Set(['docs/adr']);

describe('docs/architecture.md', () => {
  it('has the floor plan that "npm run docs" writes', () => {
    const page = read('docs/architecture.md');
    expect(renderFloorPlan(page)).toBe(page);
  });
});

describe('rooms', () => {
  const rooms = furnish(loadRooms());

  it('stand once in the plan, and are not empty', () => {
    const names = rooms.map(({ room }) => room);
    expect(new Set(names).size).toBe(names.length);
    const empty = rooms.filter(({ files, room }) => files === 0 && room !== 'backends/redis/lua');
    expect(empty).toEqual([]);
  });

  it(`have at most ${MOST_FILES} files`, () => {
    const counts = new Map<string, number>();
    for (const file of trackedFiles().filter((path) => /^(src|test|docs)\//.test(path))) {
      const folder = posix.dirname(file);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    expect(counts.size).toBeGreaterThan(50);
    const halls = [...counts].filter(([folder, files]) => files > MOST_FILES && !LISTS.has(folder));
    expect(halls).toEqual([]);
  });
});
