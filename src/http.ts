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
  Change,
  DependentList,
  ErrorGroupPage,
  GivenAnswer,
  GraphStates,
  LogList,
  Overview,
  PublishedEvent,
  QueueList,
  RunPage,
  SchedulePage,
  ScheduleSlots,
  SearchedPage,
  SentSignal,
  StoredRun,
  StoredTask,
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
export type { RefusalCode } from './operations/refusal.ts';
export type { Access, Permission } from './operations/view.ts';
