import { expect, it } from 'vitest';
import { inChunks, mapInChunks } from '../../../src/base/chunks.ts';

const ITEMS = [1, 2, 3, 4, 5, 6, 7];

it.each([
  [1, [[1], [2], [3], [4], [5], [6], [7]]],
  [3, [[1, 2, 3], [4, 5, 6], [7]]],
  [7, [ITEMS]],
  [8, [ITEMS]],
])('chunks of %i have every item once, in order', (size, chunks) => {
  expect([...inChunks(ITEMS, size)]).toEqual(chunks);
});

it('nothing has no chunks', () => {
  expect([...inChunks([], 3)]).toEqual([]);
});

it('answers come in the order of the items, with so many calls under way at once', async () => {
  let running = 0;
  const peaks: number[] = [];
  const answers = await mapInChunks(ITEMS, 3, async (item) => {
    running += 1;
    await Promise.resolve();
    peaks.push(running);
    // Later ones of a chunk end first.
    for (let turns = 3 - (item % 3); turns > 0; turns--) await Promise.resolve();
    running -= 1;
    return item * 10;
  });
  expect(answers).toEqual(ITEMS.map((item) => item * 10));
  expect(peaks).toEqual([3, 3, 3, 3, 3, 3, 1]);
});

it('a call that fails is the last chunk', async () => {
  const asked: number[] = [];
  const answers = mapInChunks(ITEMS, 2, async (item) => {
    asked.push(item);
    if (item === 3) throw new Error('no');
  });
  await expect(answers).rejects.toThrow('no');
  expect(asked).toEqual([1, 2, 3, 4]);
});
