/** `fairloom/http`: the HTTP API and the page of a client, for any server. */

export { type HttpApi, httpApi, type RequestOrigin } from './http/http-api.ts';
export type { HttpApiOptions } from './http/http-options.ts';
export { type NodeHandler, type NodeRequest, nodeHandler } from './http/node-handler.ts';
export type { Problem } from './http/problem.ts';
export type {
  About,
  AskPage,
  AttemptList,
  AuditEntry,
  AuditPage,
  BulkPage,
  DependentList,
  ErrorGroupPage,
  GraphStates,
  LogList,
  Overview,
  QueueList,
  RunPage,
  SchedulePage,
  ScheduleSlots,
  SearchedPage,
  StreamList,
  StreamRow,
  StreamRows,
  TaskDetails,
  TaskPage,
  Timeline,
  TimelineSpan,
  UserPage,
  UserRow,
  WorkerList,
} from './operations/answers.ts';
export type {
  Change,
  GivenAnswer,
  PublishedEvent,
  SentSignal,
  StoredRun,
  StoredTask,
} from './operations/change-answers.ts';
export type { RefusalCode } from './operations/refusal.ts';
export type { Access, Permission } from './operations/view.ts';
