/** What the server answers: the shapes of its own types, under one roof. */

export type {
  AskInfo,
  AttemptInfo,
  BulkInfo,
  ErrorGroup,
  Explanation,
  QueueStatus,
  RunDetails,
  RunExplanation,
  RunInfo,
  RunNodeInfo,
  ScheduleInfo,
  SeriesReport,
  TaskError,
  TaskInfo,
  TaskLogLine,
  WorkerInfo,
} from '../../../src/index.ts';
export type {
  About,
  AuditEntry,
  Firing,
  GraphStates,
  Overview,
  TaskDetails,
  Timeline,
  TimelineSpan,
  UserPage,
  UserRow,
} from '../../../src/operations/answers.ts';
export type { Permission as Capability } from '../../../src/operations/view.ts';
export type { BulkAction, SeriesPoint } from '../../../src/types.ts';
