import { STEP_BOUNDS } from '../../src/domain/layout/step-bounds.ts';
import { LIMITS, type LimitName, PRIORITY_WEIGHTS } from '../../src/domain/limits.ts';
import { CHANNEL_NUMBER_BYTES } from '../../src/domain/task/channel.ts';

/** What the scripts need of `domain/limits.ts`. */
const NAMES: readonly LimitName[] = [
  'absorbed',
  'alarmGapMs',
  'apartBytes',
  'attemptsKept',
  'cascadeStep',
  'channelBytes',
  'channelKeys',
  'channelValueBytes',
  'clockStepMs',
  'cycleFan',
  'cycleStep',
  'errorGroupMs',
  'errorGroups',
  'floorMs',
  'graphDepth',
  'graphScriptBytes',
  'graphTtlMs',
  'handMs',
  'listsPerUser',
  'lostBackoffMs',
  'maxLost',
  'noticeBytes',
  'oldErrorBytes',
  'outageMs',
  'outagePauseMs',
  'promoteTurn',
  'refreshStep',
  'events',
  'eventSchedules',
  'resendMs',
  'scheduleLockMs',
  'scheduleOverdueMs',
  'scheduleRetryMs',
  'scriptBytes',
  'scriptUnits',
  'seriesHoursMs',
  'seriesHoursShown',
  'seriesMinutesMs',
  'seriesMinutesShown',
  'seriesPending',
  'seriesTake',
  'seriesTakeMs',
  'signalBytes',
  'signalIds',
  'signals',
  'streamBytes',
  'streamChunks',
  'streams',
  'unknownNamesPerLease',
  'submissionMs',
  'unknownTaskMs',
  'upstreamBytes',
  'waitMaxMs',
  'wakeTokens',
  'weightClasses',
  'workerSilenceMs',
  'workerIdMs',
  'xcomHoldMs',
];

/** The text that `-- @include constants` stands for. */
export function luaConstants(): string {
  const entries = NAMES.map((name) => `  ${name} = ${LIMITS[name]},`);
  const bounds = Object.entries(STEP_BOUNDS).map(([name, { value }]) => `  ${name} = ${value},`);
  const weights = PRIORITY_WEIGHTS.join(', ');
  return [
    'local LIMIT = {',
    ...entries,
    ...bounds,
    `  channelNumberBytes = ${CHANNEL_NUMBER_BYTES},`,
    `  priorityWeights = { ${weights} },`,
    '}',
    '',
  ].join('\n');
}
