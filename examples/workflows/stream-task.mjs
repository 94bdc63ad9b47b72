// The task of stream.mjs: answers word by word, as a model does.
import { setTimeout as pause } from 'node:timers/promises';
import { task } from 'fairloom';

export const answer = task('answer', async (question, ctx) => {
  const tokens = ctx.stream('tokens');
  const words =
    `You asked: ${question} An answer takes a while, and is read while it is made.`.split(' ');
  for (const word of words) {
    await pause(30, undefined, { signal: ctx.signal });
    await tokens.write(word);
  }
  await tokens.close();
  return words.length;
});
