// npm run example:agent
// npm run example:agent -- --redis redis://localhost:6379
//
// An agent calls a tool until it has the answer. Both are dynamic tasks: each returns the next
// step, and the run repeats until the agent ends it. The agent stands for a language model; this
// one does bisection, and its tool multiplies.
import { dynamic, Fairloom } from 'fairloom';
import { backendOf, optionsOf, PATIENCE } from './settings.mjs';

const QUESTION = { number: 2, digits: 3 };

/** Decides: call the tool again, or answer. It has no state besides its input. */
const agent = dynamic('agent', { maxCycles: 20 }, async (known, ctx) => {
  const { number, digits, low = 0, high = number, tried } = known;
  const [from, to] = tried === undefined ? [low, high] : halfOf({ number, low, high, tried });
  if (from.toFixed(digits) === to.toFixed(digits)) {
    return ctx.terminate({ answer: from.toFixed(digits), cycles: ctx.cycle });
  }
  const guess = (from + to) / 2;
  return ctx.goto(multiply, { number, digits, low: from, high: to, guess });
});

/** Computes the request, and returns to the agent. */
const multiply = dynamic('multiply', { maxCycles: 20 }, async ({ guess, ...known }, ctx) => {
  const square = guess * guess;
  console.log(`tool: ${guess} × ${guess} = ${square}`);
  return ctx.goto(agent, { ...known, tried: { guess, square } });
});

function halfOf({ number, low, high, tried }) {
  return tried.square <= number ? [tried.guess, high] : [low, tried.guess];
}

const loom = new Fairloom({ backend: backendOf(optionsOf().redis), tasks: [agent, multiply] });
await loom.worker().start();

const run = await loom.enqueue(agent.pipe(multiply).as('ask'), QUESTION, { user: 'acme' });
const { answer, cycles } = await run.result({ timeout: PATIENCE });
console.log(`answer: the square root of ${QUESTION.number} is ${answer}, after ${cycles} cycles`);
await loom.close();
