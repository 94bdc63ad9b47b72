// node examples/hello.mjs
import { Fairloom, memory, task } from 'fairloom';

const hello = task('hello', async (/** @type {string} */ who) => `Hello, ${who}!`);
const loom = new Fairloom({ backend: memory(), tasks: [hello] });

console.log(await loom.run(hello, 'Ada'));
await loom.close();
