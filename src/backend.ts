/**
 * `fairloom/backend`: what the author of a backend implements, and what it stores. The interface is `Backend`; the
 * tests that a backend has to pass are `fairloom/conformance`.
 */

export type { RetryPolicy } from './domain/attempt/retry-policy.ts';
export type {
  AttemptSettings,
  QueuePatch,
  QueueSettings,
  SettingOrigin,
  SettingOrigins,
  UserPatch,
  UserSettings,
} from './domain/fairness/settings.ts';
export type { AskStore } from './domain/port/asks.ts';
export type {
  Backend,
  BackendInfo,
  BackendProblem,
  BackendSettings,
  BatchOptions,
  CancelReply,
  Capabilities,
  ChangeReply,
  CheckpointReply,
  Decision,
  DueReply,
  DueRequest,
  EditedTask,
  EnqueueRefusal,
  EnqueueReply,
  ErrorGroupFacts,
  EventSource,
  EventStart,
  ExtendReply,
  ExtendRequest,
  FireReply,
  FireRequest,
  Firing,
  GraphReply,
  GraphStore,
  Inspect,
  Leased,
  LeaseRef,
  LeaseReply,
  LeaseRequest,
  NodeWrites,
  PageRequest,
  PassedSlots,
  PauseReply,
  Pong,
  PublishReply,
  QueueInfo,
  QueueShare,
  QueueStore,
  RunStore,
  ScheduleChange,
  ScheduleRecord,
  ScheduleSetReply,
  ScheduleStore,
  SeriesCell,
  SeriesEntry,
  SeriesReply,
  SeriesRequest,
  SeriesStore,
  SettleAnswer,
  Settlement,
  SettleReply,
  SettleRequest,
  SlotMoment,
  Stats,
  StreamLease,
  StreamPlace,
  StreamStore,
  Suspension,
  SyncInterval,
  TaskFacts,
  TaskFilter,
  TaskStore,
  TickReply,
  UpstreamFact,
  UserInfo,
  UserStore,
  WaitStore,
  WorkerSpec,
  WorkerStore,
  WorkNotice,
  XComStore,
} from './domain/port/backend.ts';
export type {
  Registration,
  TaskPageRequest,
  Total,
  WorkerAttempts,
} from './domain/port/inspection.ts';
export type { SearchLimitName } from './domain/search-limits.ts';
export { Histogram } from './domain/series/histogram.ts';
export { SERIES_COUNTS, type SeriesCount, SeriesRow } from './domain/series/series-row.ts';
export type { StepRange } from './domain/series/series-steps.ts';
export type { SeriesLimitName } from './domain/series-limits.ts';
export type { SocketLimitName } from './domain/socket-limits.ts';
export type { StreamLimitKey } from './domain/stream-limits.ts';
export type {
  AnsweredAsk,
  AskClosing,
  AskFilter,
  AskRecord,
  AskReply,
  AskSpec,
  GivenAnswer,
  UnansweredAsk,
} from './domain/task/ask.ts';
export type {
  ChannelLimit,
  ChannelRefusal,
  ChannelWrite,
  ChannelWrites,
  Unfit,
} from './domain/task/channel.ts';
export type { DependentPage, Ending } from './domain/task/dependents.ts';
export type { StreamEntry, StreamWrite } from './domain/task/stream.ts';
export type {
  AttemptRecord,
  EdgePolicies,
  EndState,
  HoldSpec,
  KeySpec,
  NewTask,
  TaskRecord,
  TaskRow,
  TaskStatus,
} from './domain/task/task.ts';
export type {
  SignalMessage,
  SignalReply,
  WaitEvent,
  WaitFigure,
  WaitTarget,
} from './domain/task/wait.ts';
export type { WindowSpec } from './domain/task/window.ts';
export type { XComFact, XComPlace, XComValue, XComWrite } from './domain/task/xcom.ts';
export type { WaitLimitName } from './domain/wait-limits.ts';
export type { XComLimitKey } from './domain/xcom-limits.ts';
export type {
  BlockNode,
  EachNode,
  GraphBlock,
  GraphMember,
  GraphNode,
  JoinPolicy,
  NodeBase,
  ParallelNode,
  TaskGraph,
  TaskNode,
} from './graph/graph.ts';
export type { Binding, ValuePath } from './graph/graph-binding.ts';
