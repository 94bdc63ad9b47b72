// npm run example:agent
// npm run example:agent -- --redis redis://localhost:6379
//
// An agent that asks a tool until it knows the answer. Both are dynamic tasks: each says what runs
// next, and the run goes round until the agent ends it. The agent stands for a language model; this
// one knows bisection, and its tool can multiply.
import { dynamic, Fairloom } from 'fairloom';
import { backendOf, optionsOf, PATIENCE } from './settings.mjs';

const QUESTION = { number: 2, digits: 3 };

/** Decides: ask once more, or answer. It remembers nothing, all it knows is in its input. */
const agent = dynamic('agent', { maxCycles: 20 }, async (known, ctx) => {
  const { number, digits, low = 0, high = number, tried } = known;
  const [from, to] = tried === undefined ? [low, high] : halfOf({ number, low, high, tried });
  if (from.toFixed(digits) === to.toFixed(digits)) {
    return ctx.terminate({ answer: from.toFixed(digits), cycles: ctx.cycle });
  }
  const guess = (from + to) / 2;
  return ctx.goto(multiply, { number, digits, low: from, high: to, guess });
});

/** Does what it was asked, and hands back to the agent. */
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
