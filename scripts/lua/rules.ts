/** Rules of src/domain/fairness/ that scripts follow too, as Lua. */
import {
  afterTurn,
  CROWD,
  correction,
  costLeft,
  enterTag,
  exactStep,
  expectedRun,
  finishOf,
  keptTag,
  learned,
  raisedTag,
  recountedTag,
  rescaledTag,
  SEATS,
  scaleOf,
  seated,
  sharedClass,
  sharedStep,
  startOf,
  TURN,
  turn,
} from '../../src/domain/fairness/fair-share.ts';
import {
  afterGiveBack,
  afterStart,
  afterStarts,
  allowedAt,
  boundedTat,
} from '../../src/domain/fairness/rate-limit.ts';
import { luaArithmetic } from './arithmetic.ts';

const TAGS = [
  ...[scaleOf, startOf, exactStep, finishOf, turn, seated, raisedTag, enterTag, keptTag],
  ...[rescaledTag, expectedRun, learned, correction, recountedTag, sharedClass, sharedStep],
];

/** The text that `-- @include tags` stands for. */
export function luaTags(): string {
  const functions = luaArithmetic('fair-share.ts', 'Tag', TAGS, { CROWD, SEATS, TURN });
  const note =
    'Counts tags and virtual time: made of src/domain/fairness/ by scripts/lua/rules.ts.';
  return `-- ${note}\n${functions}\n`;
}

/** Rules of one expression, which stand where they are called. */
export function inlineRules(): string {
  const rates = luaArithmetic('rate-limit.ts', 'Rate', [
    allowedAt,
    boundedTat,
    afterStart,
    afterStarts,
    afterGiveBack,
  ]);
  return `${rates}\n${luaArithmetic('fair-share.ts', 'Turn', [afterTurn, costLeft])}`;
}
