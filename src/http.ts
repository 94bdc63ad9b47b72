/** `fairloom/http`: the HTTP API and the page of a client, for any server. */

export type {
  About,
  AskPage,
  AttemptList,
  AuditEntry,
  AuditPage,
  BulkPage,
  DependentList,
  ErrorGroupPage,
  LogList,
  Overview,
  QueueList,
  RunPage,
  SchedulePage,
  SearchedPage,
  StreamList,
  StreamRows,
  TaskPage,
  Timeline,
  TimelineSpan,
  UserPage,
  UserRow,
  WorkerList,
} from './http/calls/answers.ts';
export type { Problem, RefusalCode } from './http/calls/problem.ts';
export type { Access, Permission } from './http/calls/view.ts';
export { type HttpApi, httpApi, type RequestOrigin } from './http/http-api.ts';
export type { HttpApiOptions } from './http/http-options.ts';
export { type NodeHandler, type NodeRequest, nodeHandler } from './http/node-handler.ts';
export type {
  Change,
  GivenAnswer,
  GraphStates,
  PublishedEvent,
  ScheduleSlots,
  SentSignal,
  StoredRun,
  StoredTask,
  StreamRow,
  TaskDetails,
} from './shapes/shapes.ts';
