/** What the server answers: the shapes of its own types, under one roof. */

export type {
  About,
  AuditEntry,
  Firing,
  HttpAnswers,
  Overview,
  Timeline,
  TimelineSpan,
  UserPage,
  UserRow,
} from '../../../src/http/calls/answers.ts';
export type { Permission as Capability } from '../../../src/http/calls/view.ts';
export type {
  AskInfo,
  AttemptInfo,
  BulkAction,
  BulkInfo,
  ErrorGroup,
  Explanation,
  QueueStatus,
  RunDetails,
  RunExplanation,
  RunInfo,
  RunNodeInfo,
  ScheduleInfo,
  SeriesPoint,
  SeriesReport,
  TaskError,
  TaskInfo,
  TaskLogLine,
  WorkerInfo,
} from '../../../src/index.ts';
export type { GraphStates, TaskDetails } from '../../../src/shapes/shapes.ts';
