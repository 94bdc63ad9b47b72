/** Steps of a log once more, one call after another on each engine: whether it takes clients that call at once. */
import { readFileSync } from 'node:fs';
import { redisForTests } from '../../../src/backends/redis/manual-time.ts';
import type { RedisPlace } from '../../support/redis/redis-server.ts';
import { START_MS } from '../harness.ts';
import { expectedState, stateOf } from '../state.ts';
import { BY_AGE } from '../subjects.ts';
import { answerOf } from './asked.ts';
import { Replayer } from './replayer.ts';

/** Throws at the first step after which an engine answers or shows something else. */
export async function playAgain(place: RedisPlace, file: string): Promise<void> {
  const { backend, setTime, dispose } = redisForTests(place, { prefix: 'again' });
  const replayer = await Replayer.open();
  const ids = new Set<string>();
  try {
    await setTime(START_MS);
    await backend.open({ retention: BY_AGE });
    for (const [at, line] of readFileSync(file, 'utf8').trimEnd().split('\n').entries()) {
      const { call, step, wanted } = await replayer.take(line);
      if (step === undefined) continue;
      if (call.type === 'enqueue') for (const { id } of call.tasks) ids.add(id);
      await setTime(replayer.now);
      replayer.mustBe(`line ${at}`, await answerOf(backend, step), wanted);
      const names = [...ids];
      replayer.mustBe(
        `shown after line ${at}`,
        await stateOf(backend, names),
        expectedState(replayer.oracle, names),
      );
    }
  } finally {
    await dispose();
    await replayer.close();
  }
}
