/** What the server answers: the shapes of its own types, under one roof. */

export type { TaskError } from '../../../src/base/thrown.ts';
export type { AskInfo } from '../../../src/client/facades/asks-facade.ts';
export type { QueueStatus } from '../../../src/client/facades/queue-facade.ts';
export type { RunExplanation } from '../../../src/client/facades/run-explanation.ts';
export type { AttemptInfo, TaskInfo } from '../../../src/client/facades/task-info.ts';
export type { TaskLogLine } from '../../../src/client/facades/task-logs.ts';
export type { Explanation } from '../../../src/domain/explain/explain.ts';
export type { WorkerInfo } from '../../../src/domain/port/inspection.ts';
export type {
  About,
  HttpAnswers,
  Overview,
  Timeline,
  TimelineSpan,
  UserRow,
} from '../../../src/http/calls/answers.ts';
export type { Permission as Capability } from '../../../src/http/calls/view.ts';
export type { RunDetails, RunInfo, RunNodeInfo } from '../../../src/runs/shared/run-info.ts';
export type { ScheduleInfo } from '../../../src/schedules/schedule-info.ts';
export type { GraphStates, TaskDetails } from '../../../src/shapes/shapes.ts';
export type * from './agreed.ts';
