/** A module for `fairloom worker`: handlers that look at no signal, and one that does. */
import { task } from 'fairloom';

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export const deaf = task('deaf', async ({ ms }) => {
  await wait(ms);
});
